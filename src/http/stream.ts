import type { ServerResponse } from 'node:http';
import type { LateBody, OnWaiting } from '../api/handler.ts';
import {
  codingFor,
  codingHeaders,
  cutOff,
  JSON_TYPE,
  openOutlet,
  type Outlet,
  SAFETY_HEADERS,
  sendText,
} from './response.ts';

/** In bytes: a longer response is sent in chunks, while it is being made. */
export const MAX_WHOLE_BYTES = 64 * 1024;

const SPACE = Buffer.from(' ');

interface SendOptions {
  headers: readonly string[];
  /** How often white space is sent before the first chunk. */
  heartbeatMs: number;
}

/**
 * Sends a response that is made elsewhere. At the first heartbeat its status becomes 200: leading
 * white space, which JSON allows, shows the client and any proxy that the response is being made.
 * An earlier error can still become an error response; a later one cuts the connection. When the
 * response is over, or the client has left, `stop` is called. One whose client reads nothing of what
 * waits is cut off when the connection times out.
 */
export async function sendLate(
  response: ServerResponse,
  body: LateBody,
  { headers, heartbeatMs }: SendOptions,
): Promise<void> {
  const client = watchClient(response, body);
  const isHead = response.req.method === 'HEAD';
  let outlet: Outlet | undefined;
  const beat = setInterval(() => {
    if (response.closed || body.isTable) return;
    outlet ??= openLong(response, [...JSON_TYPE, ...headers], client.onWaiting);
    if (client.isWaiting() || isHead) return;
    outlet.write(SPACE);
    outlet.flush();
  }, heartbeatMs);
  try {
    let next = await body.chunks.next();
    clearInterval(beat);
    const type = typeOf(body.fileName());
    const first = next.value ?? new Uint8Array();
    if (outlet === undefined && body.isOver() && first.length <= MAX_WHOLE_BYTES)
      return sendText(response, 200, { type, text: first, headers });
    outlet ??= openLong(response, [...type, ...headers], client.onWaiting);
    while (next.done !== true && !response.closed && !isHead) {
      outlet.write(next.value);
      if (body.onWaiting === undefined) await client.hasRead();
      next = await body.chunks.next();
    }
    await outlet.end();
  } catch (error) {
    if (response.closed) return;
    response.off('close', body.stop);
    body.stop();
    throw error;
  } finally {
    clearInterval(beat);
  }
}

/**
 * Begins a long response, in the coding that its client prefers. A response to HEAD has no body, so
 * nothing to compress.
 */
function openLong(
  response: ServerResponse,
  headers: readonly string[],
  onWaiting: OnWaiting,
): Outlet {
  const coding = codingFor(response);
  response.writeHead(200, [...headers, ...SAFETY_HEADERS, ...codingHeaders(coding)]);
  return openOutlet(response, response.req.method === 'HEAD' ? null : coding, onWaiting);
}

/**
 * Counts what waits for the client of a response, and cuts it off when it stalls. One that is still
 * being made, or whose last piece is still in its compressor, does not.
 */
function watchClient(response: ServerResponse, { stop, onWaiting }: LateBody) {
  let waiting = 0;
  let wake = () => {};
  const isWaiting = () => waiting > 0;
  response.once('close', stop);
  response.once('close', () => wake());
  response.on('timeout', () => {
    if (response.writableNeedDrain || response.writableEnded) cutOff(response);
  });
  return {
    isWaiting,
    onWaiting(bytes: number, isRead: boolean) {
      waiting += bytes;
      onWaiting?.(bytes, isRead);
      if (!isWaiting()) wake();
    },
    /** Resolves when nothing waits any more, or the client has left. */
    async hasRead(): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      if (isWaiting() && !response.closed) await promise;
    },
  };
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
