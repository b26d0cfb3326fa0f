import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** One request and its response. */
export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  /** The request's `Expect`: with `continue` the client waits for permission to send the body. */
  expects: 'nothing' | 'continue' | 'something else';
}

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
