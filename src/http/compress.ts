import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import { cutOff } from './exchange.ts';
import { type AcceptedCoding, type Coding, chooseCoding } from './negotiate.ts';

/** Smaller bodies are sent as they are, because they fit into one packet anyway. In bytes. */
export const MIN_COMPRESSED_BYTES = 1_024;

/**
 * The most that one compressor holds beside its response, with the text that waits in it. There are
 * never more of them than long responses (`maxLongResponses`). The windows and levels below were
 * chosen by measuring (docs/benchmarks.md): a compressor that makes bodies much smaller holds
 * megabytes for each client that reads slowly.
 */
export const MAX_COMPRESSOR_BYTES = 768 * 1024;

/** Loaded by the first response that is compressed; it would take a tenth of a start. */
const zlib = () => process.getBuiltinModule('node:zlib');

function zstd() {
  const { ZSTD_c_compressionLevel: level, ZSTD_c_windowLog: window } = zlib().constants;
  return { params: { [level]: 1, [window]: 18 } };
}

function brotli() {
  const {
    BROTLI_PARAM_QUALITY: quality,
    BROTLI_PARAM_LGWIN: window,
    BROTLI_PARAM_LGBLOCK: block,
  } = zlib().constants;
  return { params: { [quality]: 3, [window]: 17, [block]: 16 } };
}

const gzip = { level: 6, windowBits: 15, memLevel: 8 };

const compressors = {
  zstd: {
    whole: (text: string | Uint8Array) => zlib().zstdCompressSync(text, zstd()),
    stream: () => zlib().createZstdCompress(zstd()),
  },
  br: {
    whole: (text: string | Uint8Array) => zlib().brotliCompressSync(text, brotli()),
    stream: () => zlib().createBrotliCompress(brotli()),
  },
  gzip: {
    whole: (text: string | Uint8Array) => zlib().gzipSync(text, gzip),
    stream: () => zlib().createGzip(gzip),
  },
} satisfies Record<Coding, unknown>;

/** The codings of a response, from the one that costs a server the least for what it saves. */
const OFFERED = ['zstd', 'br', 'gzip'] as const;

/** The coding that the client of a response prefers. */
export function codingFor({ req: { headers } }: ServerResponse): AcceptedCoding {
  return chooseCoding(headers['accept-encoding'], OFFERED);
}

export function codingHeaders(coding: Coding | null): string[] {
  return coding === null ? [] : ['Content-Encoding', coding];
}

/**
 * A whole body as its client wants it: compressed unless it is small. Takes about a millisecond per
 * 100 KB.
 */
export function encodeWhole(
  text: string | Uint8Array,
  { coding, isPlainRefused }: AcceptedCoding,
): { body: string | Uint8Array; coding: Coding | null } {
  const isSmall =
    text.length < MIN_COMPRESSED_BYTES && Buffer.byteLength(text) < MIN_COMPRESSED_BYTES;
  if (coding === null || (isSmall && !isPlainRefused)) return { body: text, coding: null };
  return { body: compressors[coding].whole(text), coding };
}

/**
 * What the pieces of a long response are written to: the response itself, or a compressor before
 * it.
 */
export interface Outlet {
  /** Its `drain` says when the client has read what was written, or nearly all. */
  sink: Writable;
  /** Sends what the compressor still holds. */
  flush(): void;
  /** Sends the last piece. Resolves when no compressor holds anything, or the client has left. */
  end(text: string | Uint8Array): Promise<void>;
}

/**
 * The head must have been written. A compressor ends with its response, also when the client
 * leaves.
 */
export function openOutlet(response: ServerResponse, coding: Coding | null): Outlet {
  if (coding === null) {
    return { sink: response, flush() {}, end: async (text) => void response.end(text) };
  }
  const compressor = compressors[coding].stream();
  const closed = new Promise<void>((resolve) => compressor.once('close', resolve));
  if (response.closed) compressor.destroy();
  else response.once('close', () => compressor.destroy());
  compressor.once('error', () => cutOff(response));
  compressor.pipe(response);
  return {
    sink: compressor,
    flush: () => void (response.closed || compressor.flush()),
    end(text) {
      compressor.end(text);
      return closed;
    },
  };
}
