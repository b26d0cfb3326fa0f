import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { pagePaths } from '../pages/paths.ts';

/** The built files of src/pages/, by name: compressed with gzip, as base64. None when the program was not built. */
export type BuiltPages = Readonly<Record<string, string>>;

/** A file that browsers get, as it goes over the wire. */
export interface PageFile {
  contentType: string;
  etag: string;
  gzipped: Buffer;
}

/** A path that browsers ask for. No part of the JSON API, so the interface description leaves it out; needs no token. */
export interface PageRoute {
  method: 'GET';
  path: string;
  isPublic: true;
  bareErrors?: never;
  /** Opened at the first request. */
  file: () => PageFile;
}

const contentTypes: Record<string, string> = {
  'index.html': 'text/html; charset=utf-8',
  'app.js': 'text/javascript; charset=utf-8',
  'app.css': 'text/css; charset=utf-8',
  'favicon.svg': 'image/svg+xml',
};

/** What a page may do: run our own script, wear our own style sheet, ask this server. Nothing from anywhere else. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const PAGE_HEADERS = [
  ['Cache-Control', 'no-cache'], // kept by the browser, asked for again by ETag: a new program shows at once
  ['Vary', 'Accept-Encoding'],
  ['Content-Security-Policy', PAGE_POLICY],
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'no-referrer'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
].flat();

/** The routes of the pages: each file under its name, and every page's path leading to the one HTML file. */
export function pageRoutes(built: BuiltPages): PageRoute[] {
  const files = Object.entries(built).map(([name, base64]) => [name, openedOnce(name, base64)] as const);
  return files.flatMap(([name, file]) =>
    (name === 'index.html' ? pagePaths : [`/${name}`]).map((path): PageRoute => ({
      method: 'GET',
      path,
      isPublic: true,
      file,
    })),
  );
}

function openedOnce(name: string, base64: string): () => PageFile {
  let file: PageFile | undefined;
  return () => (file ??= openFile(name, base64));
}

function openFile(name: string, base64: string): PageFile {
  const gzipped = Buffer.from(base64, 'base64');
  const etag = `"${createHash('sha256').update(gzipped).digest('base64url').slice(0, 22)}"`;
  return { contentType: contentTypes[name] ?? 'application/octet-stream', etag, gzipped };
}

/** Sends a file, or 304 when the browser has it already. */
export function sendPage(
  request: IncomingMessage,
  response: ServerResponse,
  { contentType, etag, gzipped }: PageFile,
): void {
  const headers = ['Content-Type', contentType, 'ETag', etag, ...PAGE_HEADERS];
  if (request.headers['if-none-match']?.includes(etag)) {
    response.writeHead(304, headers).end();
    return;
  }
  const takesGzip = /\bgzip\b(?!\s*;\s*q=0(\.0+)?\s*(,|$))/i.test(String(request.headers['accept-encoding'] ?? ''));
  const body = takesGzip ? gzipped : gunzipSync(gzipped);
  const encoding = takesGzip ? ['Content-Encoding', 'gzip'] : [];
  response.writeHead(200, [...headers, ...encoding, 'Content-Length', String(body.length)]).end(body);
}
