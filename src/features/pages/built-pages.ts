import type { IncomingMessage, ServerResponse } from 'node:http';
import { sha256 } from '#text/hash.ts';
import { compact } from '#text/sentences.ts';
import type { PageError, PageRoute, Pages, PagesMode } from '#http/application.ts';
import { codingHeaders } from '#http/response.ts';
import { chooseCoding, type Coding } from '#http/negotiate.ts';
import { pagePaths } from './paths.ts';

/** Feature: the pages, and how the server sends them: the files that the build made of browser/. */

/** Loaded by the first page that is sent. */
const zlib = () => process.getBuiltinModule('node:zlib');

/**
 * The built files of browser/, by name: compressed with Brotli, as base64. Empty when the
 * program was not built.
 */
export type BuiltPages = Readonly<Record<string, string>>;

/** The files of the pages, bundled by the build. */
declare const PAGES: BuiltPages;

/** The files of the pages, as the build put them into the program. */
export function builtPages(): BuiltPages {
  return PAGES;
}

/**
 * A file for browsers. Most accept Brotli, and get it as it is stored; the other forms are made
 * for each request.
 */
interface PageFile {
  contentType: string;
  /** Weak, because it names the content whatever its coding. */
  etag: string;
  brotli: Buffer;
}

/** Where people look for an interface description, because other servers have theirs there. */
const MOVED = { '/docs': '/api', '/redoc': '/api' };

const contentTypes: Record<string, string> = {
  'index.html': 'text/html; charset=utf-8',
  'app.js': 'text/javascript; charset=utf-8',
  'app.css': 'text/css; charset=utf-8',
  'favicon.svg': 'image/svg+xml',
};

/**
 * A page may run our script, use our style sheet and call this server. Nothing is loaded from
 * elsewhere.
 */
export const PAGE_POLICY: readonly string[] = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
];

const PAGE_HEADERS = [
  ['Cache-Control', 'no-cache'], // the browser revalidates it by ETag, so a new version appears at once
  ['Vary', 'Accept-Encoding, Accept'],
  ['Content-Security-Policy', PAGE_POLICY.join('; ')],
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'no-referrer'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
].flat();

/**
 * The routes of the pages: each file under its name, and every page's path with the one HTML file.
 */
export function createPages(built: BuiltPages, mode: PagesMode): Pages {
  const files = new Map(
    Object.entries(built).map(([name, base64]) => [name, openFile(name, base64, mode)]),
  );
  const index = files.get('index.html');
  if (index === undefined) return { routes: [], sendMissing: undefined };
  files.delete('index.html');
  const named = [...files].map(([name, file]) => [`/${name}`, file] as const);
  const served = [...pagePaths.map((path) => [path, index] as const), ...named];
  const routes = [
    ...served.map(([path, file]) =>
      pageRoute(path, (request, response) => sendFile(request, response, file)),
    ),
    ...Object.entries(MOVED).map(([path, target]) =>
      pageRoute(path, (_request, response) => {
        const headers = ['Location', target, 'Content-Length', '0', ...PAGE_HEADERS];
        response.writeHead(302, headers).end();
      }),
    ),
  ];
  return {
    routes,
    sendMissing: (request, response, error) => sendFile(request, response, index, error),
  };
}

function pageRoute(path: string, send: PageRoute['send']): PageRoute {
  return { method: 'GET', path, isPublic: true, send };
}

function openFile(name: string, base64: string, mode: PagesMode): PageFile {
  const stored = Buffer.from(base64, 'base64');
  const brotli = name === 'index.html' ? marked(stored, mode) : stored;
  const etag = `W/"${sha256(brotli).toString('base64url').slice(0, 22)}"`;
  return { contentType: contentTypes[name] ?? 'application/octet-stream', etag, brotli };
}

/**
 * The HTML file of a server in DEV mode, or of a view, so that a page says so from its first
 * moment, and nothing moves later.
 */
function marked(
  brotli: Buffer,
  { settings: { deploymentMode, preserveDevData }, viewedFile, isFixed }: PagesMode,
): Buffer {
  const isKept = preserveDevData || viewedFile !== null;
  const marks = compact([
    deploymentMode === 'DEV' && `data-dev="${isKept ? 'kept' : 'erased'}"`,
    viewedFile !== null && `data-view="${escapeAttribute(viewedFile)}"`,
    isFixed && 'data-fixed',
  ]);
  if (marks.length === 0) return brotli;
  const html = zlib().brotliDecompressSync(brotli).toString();
  return zlib().brotliCompressSync(html.replace('<body>', () => `<body ${marks.join(' ')}>`));
}

/** A text inside an attribute, or inside an element. */
export function escapeAttribute(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Sends a file, or 304 when the browser already has it. */
function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  file: PageFile,
  error?: PageError,
): void {
  const headers = [
    'Content-Type',
    file.contentType,
    'ETag',
    file.etag,
    ...PAGE_HEADERS,
    ...(error?.headers ?? []),
  ];
  if (error === undefined && isNotModified(file, request.headers['if-none-match']))
    return void response.writeHead(304, headers).end();
  const coding = chooseCoding(request.headers['accept-encoding'], ['br', 'gzip']);
  const body = encodedBody(file, coding);
  const sizes = ['Content-Length', String(body.length), ...codingHeaders(coding)];
  response.writeHead(error?.status ?? 200, [...headers, ...sizes]).end(body);
}

function encodedBody({ brotli }: PageFile, coding: Coding | null): Buffer {
  if (coding === 'br') return brotli;
  const plain = zlib().brotliDecompressSync(brotli);
  return coding === 'gzip' ? zlib().gzipSync(plain) : plain;
}

/** Whether the tags of If-None-Match include the file's, weak or not. */
function isNotModified({ etag }: PageFile, tags = ''): boolean {
  return tags === '*' || tags.includes(etag.slice('W/'.length));
}
