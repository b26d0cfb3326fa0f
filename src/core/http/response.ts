import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { CLIENT_LEFT, type AsyncBody, type ByteBody } from '#api/handler.ts';
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
 * This window and level, and those of gzip, were chosen by measuring (bench/README.md): a
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

/**
 * Written last. A compressor that is ended while it has writes to process ends what it makes twice:
 * Node finishes it with the last of these, and again at its end. For zstd that is a second frame.
 */
const EMPTY_CHUNK = Buffer.alloc(0);

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
 * An earlier error can still become an error response; a later one cuts the connection. One whose
 * client reads nothing of what waits is cut off when the connection times out.
 */
export async function sendAsync(
  response: ServerResponse,
  { made, isTable, end }: AsyncBody,
  { headers, heartbeatMs }: { headers: readonly string[]; heartbeatMs: number },
): Promise<void> {
  response.once('close', () => end.abort(CLIENT_LEFT));
  // One that is still being made, or whose last piece is still in its compressor, does not stall.
  response.on('timeout', () => {
    if (response.writableNeedDrain || response.writableEnded) cutOff(response);
  });
  try {
    const first = await (isTable ? made : readyWithin(made, heartbeatMs));
    if (response.closed) return end.abort(CLIENT_LEFT);
    const type = typeHeaders(first?.fileName ?? null);
    if (first?.bytes instanceof Uint8Array && first.bytes.length <= MAX_WHOLE_BYTES)
      return sendText(response, 200, { type, text: first.bytes, headers });
    const coding = codingFor(response);
    const all = [...type, ...SAFETY_HEADERS, ...headers, ...codingHeaders(coding)];
    response.writeHead(200, all);
    if (response.req.method === 'HEAD') return void response.end();
    end.signal.addEventListener('abort', () => cutOff(response));
    const compressor = coding && compressors[coding].stream();
    const pieces = async function* () {
      try {
        let now = first;
        for (; now === null; now = await readyWithin(made, heartbeatMs)) {
          yield SPACE;
          compressor?.flush();
        }
        if (now.bytes instanceof Uint8Array) yield now.bytes;
        else yield* now.bytes;
        if (compressor !== null)
          await new Promise((resolve) => compressor.write(EMPTY_CHUNK, resolve));
      } catch (error) {
        end.abort(error); // a reset: `pipeline` would end the connection in order
        throw error;
      }
    };
    await (compressor === null
      ? pipeline(pieces, response)
      : pipeline(pieces, compressor, response));
  } catch (error) {
    end.abort(response.closed ? CLIENT_LEFT : error);
    if (end.signal.reason !== CLIENT_LEFT) throw end.signal.reason;
  }
}

/** What was made; null when it has not been made after this time. */
async function readyWithin(made: Promise<ByteBody>, timeMs: number): Promise<ByteBody | null> {
  const late = Promise.withResolvers<null>();
  const timer = setTimeout(late.resolve, timeMs, null);
  return Promise.race([made, late.promise]).finally(() => clearTimeout(timer));
}

/** The header of JSON, or of a table with this name. */
export function typeHeaders(fileName: string | null): readonly string[] {
  if (fileName === null) return JSON_TYPE;
  const disposition = `attachment; filename="${fileName}"`;
  return [
    'Content-Type',
    'text/csv; charset=utf-8; header=present',
    'Content-Disposition',
    disposition,
  ];
}
