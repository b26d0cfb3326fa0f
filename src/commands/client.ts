import * as v from 'valibot';
import { ServiceError, messageOf } from '../domain.ts';
import { type HttpAnswer, type HttpFailure, type HttpStream, httpRequest, httpStream } from '../http-client.ts';
import { asObject, asText, tryParse } from '../json.ts';
import { cleanText, quote } from '../text.ts';

/** How long an answer may take; a stream may take longer to its end. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Statuses that whoever stands in front of a service gives while it starts, or is asked too much. */
const PASSING_STATUSES = new Set([429, 502, 503, 504]);

/** How much of the service's words an error repeats: a refusal may name several fields. */
const MAX_QUOTED_LENGTH = 500;

/** Talks to a running service as any client would. What it throws is one line that a terminal can show. */
export interface Client {
  /** The answer's JSON, checked. */
  get<Schema extends v.GenericSchema>(path: string, schema: Schema): Promise<v.InferOutput<Schema>>;
  post<Schema extends v.GenericSchema>(path: string, body: unknown, schema: Schema): Promise<v.InferOutput<Schema>>;
  /** An answer's text as it comes. */
  stream(path: string): Promise<AsyncIterable<string>>;
}

/** Thrown where no response comes, or one that says to try again later. */
export class NoAnswer extends ServiceError {
  constructor(message: string) {
    super('service_unavailable', message);
  }
}

/** Thrown for any other status than 200. */
export class ErrorResponse extends ServiceError {
  readonly status: number;
  constructor(status: number, message: string) {
    super('service_unavailable', message);
    this.status = status;
  }
}

/** Answers other than 200 are thrown with the service's own words. `token` is null where the service needs none. */
export function createClient(baseUrl: string, token: string | null): Client {
  const base = baseUrl.replace(/\/+$/, '');
  const access = token === null ? {} : { authorization: `Bearer ${token}` };
  const request = { headers: access, timeoutMs: REQUEST_TIMEOUT_MS, maxBytes: Infinity, isDirect: true } as const;
  return {
    async get(path, schema) {
      const url = base + path;
      return read(reached(url, await httpRequest(url, request)), { what: `GET ${path}`, url, schema });
    },
    async post(path, content, schema) {
      const url = base + path;
      const headers = { ...access, 'content-type': 'application/json' };
      const posted = { ...request, method: 'POST', headers, body: JSON.stringify(content) } as const;
      return read(reached(url, await httpRequest(url, posted)), { what: `POST ${path}`, url, schema });
    },
    async stream(path) {
      const url = base + path;
      const { status, body } = reached(url, await httpStream(url, request));
      if (isGood(status)) return piecesOf(body);
      throw refusal(`GET ${path}`, status, (await Array.fromAsync(piecesOf(body))).join(''));
    },
  };
}

/** The answer. A failure is thrown: the service may be there in a moment. */
function reached<Answer extends HttpAnswer | HttpStream>(url: string, answer: Answer | HttpFailure): Answer {
  if (answer.failure === undefined) return answer;
  const { origin } = new URL(url);
  const reason = cleanText(answer.message);
  const advice = '--url or API_URL say where it is';
  throw new NoAnswer(`Cannot reach the service at ${origin}: ${reason} (${advice})`);
}

function isGood(status: number): boolean {
  return status >= 200 && status < 300;
}

/** The `detail` of an error, or what else somebody in between has sent. */
function refusal(what: string, status: number, text: string): ServiceError {
  const words = quote(asText(asObject(tryParse(text))?.['detail']) ?? text, MAX_QUOTED_LENGTH);
  const note = status < 400 ? ' (a redirect, which is not followed)' : '';
  const message = `${what.replace(/\?.*/, '')}: ${`${status} ${words}`.trim()}${note}`;
  if (PASSING_STATUSES.has(status)) return new NoAnswer(message);
  return new ErrorResponse(status, message);
}

function read<Schema extends v.GenericSchema>(
  { status, text }: HttpAnswer,
  { what, url, schema }: { what: string; url: string; schema: Schema },
): v.InferOutput<Schema> {
  if (!isGood(status)) throw refusal(what, status, text);
  const body = tryParse(text);
  const result = v.safeParse(schema, body);
  if (result.success) return result.output;
  const problem = body === undefined ? 'it is not JSON' : `${v.getDotPath(result.issues[0]) ?? 'it'} is not as expected`;
  throw new ServiceError(
    'service_unavailable',
    `Cannot read the answer of ${url.replace(/\?.*/, '')}: ${problem}; is it this service?`,
  );
}

async function* piecesOf(body: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  try {
    for await (const bytes of body) yield decoder.decode(bytes, { stream: true });
  } catch (error) {
    throw new ServiceError('service_unavailable', `The answer was cut off: ${cleanText(messageOf(error))}`);
  }
  yield decoder.decode();
}
