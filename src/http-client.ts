import { type IncomingHttpHeaders, type IncomingMessage, type RequestOptions, Agent, request } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';

/**
 * One HTTP request to a provider, as little as that takes: for the child's model calls and the parent's prices and
 * news. Proxies (`HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`) and private certificates (`NODE_EXTRA_CA_CERTS`) are Node's own
 * doing. Not `fetch`: it gives up on an answer after five minutes, and some models think longer.
 */

export interface HttpRequest {
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string;
  /** From the start of the request to the last byte of the answer. */
  timeoutMs: number;
  /** A longer answer is a failure. */
  maxBytes: number;
  /** Gives the request up. */
  signal?: AbortSignal;
}

/** An answer, whatever its status. Redirects are answers too: a key must not follow them. */
export interface HttpAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  failure?: never;
}

/** Why there is no answer. `connection` and `timeout` may pass, `certificate` and `too_large` will not; `aborted` by us. */
export interface HttpFailure {
  failure: 'connection' | 'timeout' | 'certificate' | 'too_large' | 'aborted';
  message: string;
}

const agents = {
  'http:': new Agent({ keepAlive: true, proxyEnv: process.env }),
  'https:': new TlsAgent({ keepAlive: true, proxyEnv: process.env }),
};

/** Sends a request and reads the whole answer. Never throws for what happens on the wire. */
export function httpRequest(
  url: string,
  { method = 'GET', headers = {}, body, timeoutMs, maxBytes, signal }: HttpRequest,
): Promise<HttpAnswer | HttpFailure> {
  const target = new URL(url);
  const isTls = target.protocol === 'https:';
  const options: RequestOptions = {
    method,
    agent: isTls ? agents['https:'] : agents['http:'],
    headers: {
      'accept-encoding': 'identity',
      ...headers,
      ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
    },
  };
  const { promise, resolve } = Promise.withResolvers<HttpAnswer | HttpFailure>();
  const outgoing = (isTls ? tlsRequest : request)(
    target,
    options,
    (answer) => void readAnswer(answer, maxBytes).then(end, fail),
  );
  const giveUp = (failure: HttpFailure) => {
    end(failure);
    outgoing.destroy();
  };
  const timer = setTimeout(
    () => giveUp({ failure: 'timeout', message: `no answer within ${timeoutMs / 1000} seconds` }),
    timeoutMs,
  );
  const abort = () => giveUp({ failure: 'aborted', message: String(signal?.reason) });
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted) abort();
  function end(result: HttpAnswer | HttpFailure): void {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
    resolve(result);
  }
  function fail(error: NodeJS.ErrnoException): void {
    end(describeFailure(error));
  }
  outgoing.on('error', fail);
  outgoing.end(body);
  return promise;
}

async function readAnswer(answer: IncomingMessage, maxBytes: number): Promise<HttpAnswer | HttpFailure> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) {
      answer.destroy();
      return { failure: 'too_large', message: `the answer is larger than ${maxBytes} bytes` };
    }
    chunks.push(chunk);
  }
  return { status: answer.statusCode ?? 0, headers: answer.headers, text: Buffer.concat(chunks).toString() };
}

function describeFailure(error: NodeJS.ErrnoException & { errors?: NodeJS.ErrnoException[] }): HttpFailure {
  // A connection to a name with several addresses fails with one error per address, and no words of its own.
  const { code = '', message } = error.message === '' ? (error.errors?.[0] ?? error) : error;
  return { failure: isCertificateCode(code) ? 'certificate' : 'connection', message: message || code };
}

/** OpenSSL's and Node's names for "this server is not to be trusted" and "this is no TLS". */
function isCertificateCode(code: string): boolean {
  return /CERT|SIGNATURE|SELF_SIGNED|^ERR_(TLS|SSL)|^EPROTO$/.test(code);
}
