import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { OnWaiting, LateBody } from '../api/handler.ts';
import { chooseCoding, type Coding } from './negotiate.ts';

/**
 * Ends a response that cannot be finished. The connection is reset: without chunks, as over
 * HTTP/1.0, an orderly end is how a client recognises the end of the body.
 */
export function cutOff(response: ServerResponse): void {
  if (response.socket === null) response.destroy();
  else reset(response.socket);
}

/**
 * Resets a connection, or closes it if all has been written and its end is on the way: then libuv
 * refuses a reset (EINVAL), and Node never closes the descriptor.
 */
export function reset(socket: Socket): void {
  if (socket.writableEnded && socket.writableLength === 0) socket.destroy();
  else socket.resetAndDestroy();
}

/** Smaller bodies are sent as they are, because they fit into one packet anyway. In bytes. */
export const MIN_COMPRESSED_BYTES = 1_024;

/** Loaded by the first response that is compressed; it would take a tenth of a start. */
const zlib = () => process.getBuiltinModule('node:zlib');

/**
 * This window and level, and those of gzip, were chosen by measuring (docs/benchmarks.md): a
 * compressor that makes bodies much smaller holds megabytes for each client that reads slowly.
 */
function zstd() {
  const { ZSTD_c_compressionLevel: level, ZSTD_c_windowLog: window } = zlib().constants;
  return { params: { [level]: 1, [window]: 18 } };
}

const gzip = { level: 6, windowBits: 15, memLevel: 8 };

const compressors = {
  zstd: {
    whole: (text: string | Uint8Array) => zlib().zstdCompressSync(text, zstd()),
    stream: () => zlib().createZstdCompress(zstd()),
  },
  gzip: {
    whole: (text: string | Uint8Array) => zlib().gzipSync(text, gzip),
    stream: () => zlib().createGzip(gzip),
  },
};

/** The codings of the API's responses. */
export type ApiCoding = keyof typeof compressors;

/** The codings of a response, from the one that costs a server the least for what it saves. */
const OFFERED = ['zstd', 'gzip'] as const;

/** The coding that the client of a response prefers. */
function codingFor({ req: { headers } }: ServerResponse): ApiCoding | null {
  return chooseCoding(headers['accept-encoding'], OFFERED);
}

export function codingHeaders(coding: Coding | null): string[] {
  return coding === null ? [] : ['Content-Encoding', coding];
}

/** What a long response is written to: what its client has not read yet waits here. */
interface Outlet {
  write(chunk: Uint8Array): void;
  /** Sends what the compressor still holds. */
  flush(): void;
  /** Resolves when all has been handed to Node, or the client has left. */
  end(): Promise<void>;
}

/**
 * Written last. A compressor that is ended while it has writes to process ends what it makes twice:
 * Node finishes it with the last of these, and again at its end. For zstd that is a second frame.
 */
const NOTHING = Buffer.alloc(0);

/**
 * The head must have been written. A compressor ends with its response, also when the client
 * leaves. Node is handed no more than it asks for; otherwise nothing would show how much the
 * client has read.
 */
export function openOutlet(
  response: ServerResponse,
  coding: ApiCoding | null,
  onWaiting: OnWaiting,
): Outlet {
  const waiting: Uint8Array[] = [];
  let isLast = false;
  const handOver = () => {
    while (!response.writableNeedDrain && !response.closed) {
      const chunk = waiting.shift();
      if (chunk === undefined) break;
      response.write(chunk, () => onWaiting(-chunk.length, true));
    }
    if (isLast && waiting.length === 0) response.end();
  };
  const add = (chunk: Uint8Array) => {
    onWaiting(chunk.length, false);
    waiting.push(chunk);
    handOver();
  };
  const finish = () => {
    isLast = true;
    handOver();
  };
  response.on('drain', handOver);
  const ended = new Promise<void>((resolve) => {
    if (response.closed) resolve();
    response.once('prefinish', resolve).once('close', resolve);
  });
  if (coding === null) return { write: add, flush() {}, end: () => (finish(), ended) };
  const compressor = compressors[coding].stream();
  if (response.closed) compressor.destroy();
  else response.once('close', () => compressor.destroy());
  compressor
    .once('error', () => cutOff(response))
    .on('data', add)
    .once('end', finish);
  return {
    write(chunk) {
      onWaiting(chunk.length, false);
      compressor.write(chunk, () => onWaiting(-chunk.length, false));
    },
    flush: () => void (response.closed || compressor.flush()),
    end() {
      compressor.write(NOTHING, () => compressor.end());
      return ended;
    },
  };
}

export const JSON_TYPE = ['Content-Type', 'application/json'];
/**
 * On every response of the API, whatever its status: data for its client, which no page may run,
 * frame or cache, and whose bytes depend on the codings that the client accepts.
 */
const SAFETY_HEADERS = [
  'Cache-Control',
  'no-store',
  'X-Content-Type-Options',
  'nosniff',
  'Content-Security-Policy',
  "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy',
  'no-referrer',
  'Cross-Origin-Resource-Policy',
  'same-origin',
  'Vary',
  'Accept-Encoding',
];

/**
 * Sends a whole response, compressed if the client accepts that and the text is not small. Takes
 * about a millisecond per 100 KB.
 */
export function sendText(
  response: ServerResponse,
  status: number,
  {
    type,
    text,
    headers,
  }: { type: readonly string[]; text: string | Uint8Array; headers: readonly string[] },
): void {
  const coding = Buffer.byteLength(text) < MIN_COMPRESSED_BYTES ? null : codingFor(response);
  const body = coding === null ? text : compressors[coding].whole(text);
  const sizes = ['Content-Length', String(Buffer.byteLength(body)), ...codingHeaders(coding)];
  response.writeHead(status, [...type, ...sizes, ...SAFETY_HEADERS, ...headers]);
  response.end(body);
}

/** The last response on a connection that Node no longer serves, as it goes over the wire. */
export function rawResponse(status: number, json: string, now: Date): string {
  const length = String(Buffer.byteLength(json));
  const headers = [
    ...JSON_TYPE,
    ...SAFETY_HEADERS,
    'Content-Length',
    length,
    'Date',
    now.toUTCString(),
  ];
  const lines = headers.flatMap((name, index) =>
    index % 2 === 0 ? [`${name}: ${headers[index + 1]}\r\n`] : [],
  );
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}Connection: close\r\n\r\n${json}`;
}

/** In bytes: a longer response is sent in chunks, while it is being made. */
export const MAX_WHOLE_BYTES = 64 * 1024;

const SPACE = Buffer.from(' ');

/**
 * Sends a response that is made elsewhere. At the first heartbeat its status becomes 200: leading
 * white space, which JSON allows, shows the client and any proxy that the response is being made.
 * An earlier error can still become an error response; a later one cuts the connection. When the
 * response is over, or the client has left, `stop` is called. One whose client reads nothing of
 * what waits is cut off when the connection times out.
 */
export async function sendLate(
  response: ServerResponse,
  body: LateBody,
  { headers, heartbeatMs }: { headers: readonly string[]; heartbeatMs: number },
): Promise<void> {
  const { stop, isTable, onWaiting = () => {} } = body;
  response.once('close', stop);
  // One that is still being made, or whose last piece is still in its compressor, does not stall.
  response.on('timeout', () => {
    if (response.writableNeedDrain || response.writableEnded) cutOff(response);
  });
  const isHead = response.req.method === 'HEAD'; // without a body, so nothing to compress
  let outlet: Outlet | undefined;
  const open = (type: readonly string[]) => {
    const coding = codingFor(response);
    const all = [...type, ...SAFETY_HEADERS, ...headers, ...codingHeaders(coding)];
    response.writeHead(200, all);
    return openOutlet(response, isHead ? null : coding, onWaiting);
  };
  const beat = setInterval(() => {
    if (response.closed || isTable) return;
    outlet ??= open(JSON_TYPE);
    outlet.write(SPACE);
    outlet.flush();
  }, heartbeatMs);
  try {
    for await (const { bytes, fileName, isLast } of body.chunks) {
      clearInterval(beat);
      if (response.closed) return;
      const type = typeOf(fileName);
      if (outlet === undefined && isLast && bytes.length <= MAX_WHOLE_BYTES)
        return sendText(response, 200, { type, text: bytes, headers });
      outlet ??= open(type);
      outlet.write(bytes);
    }
    await outlet?.end();
  } catch (error) {
    if (response.closed) return;
    response.off('close', stop);
    stop();
    throw error;
  } finally {
    clearInterval(beat);
  }
}

/** The header of JSON, or of a table with this name. */
export function typeOf(fileName: string | null): readonly string[] {
  if (fileName === null) return JSON_TYPE;
  const disposition = `attachment; filename="${fileName}"`;
  return [
    'Content-Type',
    'text/csv; charset=utf-8; header=present',
    'Content-Disposition',
    disposition,
  ];
}
