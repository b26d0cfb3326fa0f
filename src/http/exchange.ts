import type { IncomingMessage, ServerResponse } from 'node:http';

/** One request and its response. */
export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  /** The request's `Expect`: with `continue` the client waits for permission to send the body. */
  expects: 'nothing' | 'continue' | 'something else';
}
