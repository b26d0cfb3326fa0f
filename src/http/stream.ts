import type { ServerResponse } from 'node:http';
import type { LateBody } from '../api/handler.ts';
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
