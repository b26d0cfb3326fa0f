import type { Agent, IncomingHttpHeaders, IncomingMessage, RequestOptions } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import { HTTP_URL, isHttpUrl, isLoopback } from './http-values.ts';
import { count } from '#text/sentences.ts';
import { quote } from '#text/text.ts';
import { COMMAND_NAME, VERSION } from '#process/version.ts';

/**
 * One HTTP request, with as little as that takes: for the child's model calls, the parent's prices
 * and news, and the client commands. Node applies proxies (`HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`),
 * except to this machine itself, and private certificates (`NODE_EXTRA_CA_CERTS`). Not `fetch`: it gives up on a response after
 * five minutes, and some models think longer; and loading it costs a command more processor time
 * than all its work.
 */

/** Some providers reject clients that do not name themselves. */
const USER_AGENT = `${COMMAND_NAME}/${VERSION}`;

export interface HttpRequest {
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string;
  /**
   * From the start of the request to the last byte of the response, or of a stream to its first
   * byte and then between two.
   */
  timeoutMs: number;
  /** A longer response is a failure. */
  maxBytes: number;
  /** Aborts the request. */
  signal?: AbortSignal;
  /**
   * The server is our own, on this machine or near it: proxies are ignored, and responses may come
   * compressed.
   */
  isDirect?: true;
}

/** A response, whatever its status. Redirects are not followed: a key must not go elsewhere. */
interface HttpHead {
  status: number;
  headers: IncomingHttpHeaders;
  failure?: never;
}

/** One that has been read. */
export interface HttpResponse extends HttpHead {
  text: string;
}

/** A response that is read as it arrives; iterating throws when it breaks off. */
export interface HttpStream extends HttpHead {
  body: AsyncIterable<Buffer>;
  /** Closes the connection, which ends the iteration with an error. */
  close(): void;
}

/**
 * Why there is no response: what HTTP knows of, and a stream that is not a response or broke off.
 * `connection`, `timeout` and `broken_off` may pass, the others will not; `aborted` was requested
 * by the caller.
 */
export interface HttpFailure {
  failure:
    | 'connection'
    | 'timeout'
    | 'certificate'
    | 'proxy'
    | 'too_large'
    | 'coding'
    | 'aborted'
    | 'unreadable'
    | 'broken_off';
  message: string;
}

/** Thrown where a request fails for another reason than its connection. */
export class HttpFault extends Error {
  readonly failure: HttpFailure['failure'];

  constructor(failure: HttpFailure['failure'], message: string) {
    super(message);
    this.failure = failure;
  }
}

const agents = new Map<string, Agent>();

/**
 * One agent per protocol, with proxies and without, created at the first request: it reads the
 * proxy variables then, and they may be invalid.
 */
function agentFor(protocol: string, isNear: boolean): Agent {
  const key = `${protocol} ${isNear}`;
  const proxyEnv = isNear ? {} : process.env;
  const agent = agents.get(key) ?? new (loadClient(protocol).Agent)({ keepAlive: true, proxyEnv });
  agents.set(key, agent);
  return agent;
}

/** TLS is loaded only for https, because it adds 50 % to a child's start-up. */
function loadClient(protocol: string): typeof import('node:http') | typeof import('node:https') {
  return process.getBuiltinModule(protocol === 'https:' ? 'node:https' : 'node:http');
}

/**
 * The name of an invalid proxy variable, if there is one. Node throws at some of them, with the
 * password in its message, and ignores others silently (`socks5://...`, `proxy:3128`); but a user
 * who names a proxy wants every request to go through it.
 */
function unreadableProxy(protocol: string): string | undefined {
  const name = protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  return [name, name.toLowerCase()].find((variable) => {
    const value = process.env[variable] ?? '';
    return value !== '' && !isHttpUrl(value);
  });
}

/** Sends a request and reads the whole response. Never throws for network failures. */
export function httpRequest(
  url: string,
  request: HttpRequest,
): Promise<HttpResponse | HttpFailure> {
  return sendHttp(url, request, async (head, response) => ({
    ...head,
    text: await bodyText(plainBody(response), request.maxBytes),
  }));
}

type UnboundedRequest = Omit<HttpRequest, 'maxBytes'>;

/**
 * Sends a request and resolves when its response begins; its body breaks off when nothing arrives
 * for `timeoutMs`.
 */
export function httpStream(
  url: string,
  request: UnboundedRequest,
): Promise<HttpStream | HttpFailure> {
  return sendHttp(url, request, async (head, response) => {
    const body = plainBody(response);
    return {
      ...head,
      body: withIdleTimeout(body, request.timeoutMs),
      close: () => body.destroy(),
    };
  });
}

/** Sends a request and resolves to the status of its response, of which it reads nothing else. */
export function httpStatus(
  url: string,
  request: UnboundedRequest,
): Promise<HttpHead | HttpFailure> {
  return sendHttp(url, request, (head, response) => {
    response.on('error', () => {}).destroy();
    return head;
  });
}

/** The bytes of a body, as long as they keep coming. Leaving it early closes the connection. */
async function* withIdleTimeout(body: Readable, timeoutMs: number): AsyncGenerator<Buffer> {
  const words = `nothing arrived for ${count(timeoutMs / 1000, 'second')}`;
  const timer = setTimeout(() => body.destroy(new HttpFault('timeout', words)), timeoutMs);
  try {
    for await (const chunk of body) {
      timer.refresh();
      yield chunk;
    }
  } finally {
    clearTimeout(timer);
  }
}

/** The bytes of a body. Throws an `HttpFault` once there are more than `maxBytes`. */
export async function* limitBytes(
  body: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes)
      throw new HttpFault('too_large', `the response is larger than ${maxBytes} bytes`);
    yield chunk;
  }
}

/** The same as one text. */
export async function bodyText(body: AsyncIterable<Buffer>, maxBytes: number): Promise<string> {
  return Buffer.concat(await Array.fromAsync(limitBytes(body, maxBytes))).toString();
}

async function sendHttp<Result>(
  url: string,
  { method = 'GET', headers = {}, body, timeoutMs, signal, isDirect }: UnboundedRequest,
  read: (head: HttpHead, response: IncomingMessage) => Result | Promise<Result>,
): Promise<Result | HttpFailure> {
  const target = new URL(url);
  const isNear = isDirect || isLoopback(target.hostname);
  const proxy = isNear ? undefined : unreadableProxy(target.protocol);
  if (proxy !== undefined) return { failure: 'proxy', message: `${proxy} is not ${HTTP_URL}` };
  const options: RequestOptions = {
    method,
    agent: isDirect ? undefined : agentFor(target.protocol, isNear),
    headers: {
      'user-agent': USER_AGENT,
      accept: 'application/json',
      'accept-encoding': isDirect ? 'zstd' : 'identity',
      ...headers,
      ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
    },
  };
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  const outgoing = loadClient(target.protocol).request(target, options, (response) => {
    const { statusCode: status = 0, headers: own } = response;
    const result = read({ status, headers: own }, response);
    // A status is taken at once: what follows it in the same packet may be no HTTP.
    if (result instanceof Promise) result.then(resolve, reject);
    else resolve(result);
  });
  const late = `no response within ${count(timeoutMs / 1000, 'second')}`;
  const timer = setTimeout(() => reject(new HttpFault('timeout', late)), timeoutMs);
  const abort = () => reject(new HttpFault('aborted', String(signal?.reason)));
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted) abort();
  outgoing.on('error', reject).end(body);
  try {
    return await promise;
  } catch (error) {
    outgoing.destroy();
    return toHttpFailure(error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

/**
 * The body without its content coding. Only our own server is asked for one, but others send them
 * too.
 */
function plainBody(response: IncomingMessage): Readable {
  const coding = response.headers['content-encoding']?.trim().toLowerCase() || 'identity';
  if (coding === 'identity') return response;
  const zlib = process.getBuiltinModule('node:zlib'); // here, because it adds to a child's start-up
  const decoders = new Map<string, () => Transform>([
    ['gzip', zlib.createUnzip],
    ['x-gzip', zlib.createUnzip],
    ['deflate', zlib.createUnzip],
    ['br', zlib.createBrotliDecompress],
    ['zstd', zlib.createZstdDecompress],
  ]);
  const decoder = decoders.get(coding);
  const words = `its content coding, ${quote(coding)}, is unknown and was not requested`;
  if (decoder === undefined) throw new HttpFault('coding', words);
  const { pipeline } = process.getBuiltinModule('node:stream');
  return pipeline(response, decoder(), () => {}); // an error ends the reading too
}

/**
 * `Retry-After` in seconds or as a date, or OpenAI's `retry-after-ms`, in milliseconds; undefined
 * without a valid one.
 */
export function readRetryAfter(headers: IncomingHttpHeaders, now: number): number | undefined {
  const [exact, text = ''] = [headers['retry-after-ms'], headers['retry-after']];
  const isNumber = (value: unknown) => /^\s*\d+(\.\d+)?\s*$/.test(String(value));
  if (isNumber(exact)) return Number(exact);
  const ms = isNumber(text) ? Number(text) * 1000 : Math.max(0, Date.parse(text) - now);
  return Number.isNaN(ms) ? undefined : ms;
}

/** Why a request failed, or reading its body. */
export function toHttpFailure(thrown: unknown): HttpFailure {
  const error: NodeJS.ErrnoException = thrown instanceof Error ? thrown : new Error(String(thrown));
  if (error instanceof HttpFault) return { failure: error.failure, message: error.message };
  // A connection to a name with several IP addresses fails with one error per address, and no
  // message of its own.
  const [first] = error instanceof AggregateError ? error.errors : [];
  const { code = '', message }: NodeJS.ErrnoException = (error.message === '' && first) || error;
  if (/^(Z_(?!BUF)|ZSTD_|ERR__ERROR)/.test(code))
    return { failure: 'coding', message: `it cannot be decompressed: ${message}` };
  if (message === 'aborted' || code === 'Z_BUF_ERROR') {
    const words = 'the connection was cut in the middle of the response';
    return { failure: 'connection', message: words };
  }
  if (/^EPROTO$|^ERR_(TLS|SSL)_(?!CERT)/.test(code)) {
    // `write EPROTO 40..:error:0A00010B:SSL routines:function:wrong version number:file.c:77:`
    const reason = /SSL routines:[^:]*:([^:]+):/.exec(message)?.[1] ?? code;
    return { failure: 'certificate', message: `no TLS connection can be made there: ${reason}` };
  }
  if (/SELF_SIGNED|UNABLE_TO_(GET|VERIFY)/.test(code)) {
    const [words] = message.split(';');
    const advice = 'NODE_EXTRA_CA_CERTS can name a file of certificates to trust';
    return {
      failure: 'certificate',
      message: `its certificate is not trusted: ${words} (${advice})`,
    };
  }
  // OpenSSL's and Node's codes for an untrusted server.
  const failure = /CERT|SIGNATURE/.test(code) ? 'certificate' : 'connection';
  return { failure, message: message || code };
}
