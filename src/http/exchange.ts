import type { IncomingMessage, ServerResponse } from 'node:http';

/** One request and its answer. */
export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  /** The request's `Expect`: with `continue` the client waits for a word before it sends the body. */
  expects: 'nothing' | 'continue' | 'something else';
}
