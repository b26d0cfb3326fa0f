import * as v from 'valibot';
import { ServiceError, messageOf } from '../domain.ts';
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

/** Thrown when nobody answers, or only somebody who says that the service cannot now. It may pass. */
export class NoAnswer extends ServiceError {}

/** Answers other than 200 are thrown with the service's own words. `token` is null where the service needs none. */
export function createClient(baseUrl: string, token: string | null): Client {
  const base = baseUrl.replace(/\/+$/, '');
  const access = token === null ? {} : { authorization: `Bearer ${token}` };
  const ask = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const response = await request(base + path, { ...init, headers: { ...init.headers, ...access } });
    if (response.ok) return response;
    const what = `${init.method ?? 'GET'} ${path.replace(/\?.*/, '')}: ${response.status} ${await wordsOf(response)}`;
    if (PASSING_STATUSES.has(response.status)) throw new NoAnswer('bad_request', what);
    throw new ServiceError(response.status === 404 ? 'not_found' : 'bad_request', what);
  };
  const signal = () => AbortSignal.timeout(REQUEST_TIMEOUT_MS);
  return {
    get: async (path, schema) => read(await ask(path, { signal: signal() }), schema),
    post: async (path, body, schema) => {
      const headers = { 'content-type': 'application/json' };
      return read(await ask(path, { method: 'POST', body: JSON.stringify(body), headers, signal: signal() }), schema);
    },
    stream: async (path) => piecesOf(await ask(path)),
  };
}

async function request(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { ...init, redirect: 'manual' }); // a token follows nobody
  } catch (error) {
    const { code, message } = ((error as Error).cause ?? error) as { code?: unknown; message?: string };
    const reason = cleanText(typeof code === 'string' ? code : (message ?? messageOf(error)));
    const where = new URL(url).origin;
    throw new NoAnswer(
      'cannot_start',
      `Cannot reach the service at ${where}: ${reason} (--url or API_URL say where it is)`,
    );
  }
}

/** The whole text of an answer. What breaks off may come whole the next time. */
async function textOf(response: Response): Promise<string> {
  try {
    return await response.text();
  } catch (error) {
    throw new NoAnswer('cannot_start', `The answer was cut off: ${cleanText(messageOf(error))}`);
  }
}

/** The `detail` of an error, or what else somebody in between has sent. */
async function wordsOf(response: Response): Promise<string> {
  const text = await textOf(response);
  const line = quote(asText(asObject(tryParse(text))?.['detail']) ?? text, MAX_QUOTED_LENGTH);
  return response.status < 400 ? `${line} (a redirect, which is not followed)`.trim() : line;
}

async function read<Schema extends v.GenericSchema>(
  response: Response,
  schema: Schema,
): Promise<v.InferOutput<Schema>> {
  const body = tryParse(await textOf(response));
  const result = v.safeParse(schema, body);
  if (result.success) return result.output;
  const problem = body === undefined ? 'it is not JSON' : `${v.getDotPath(result.issues[0]) ?? 'it'} is not as expected`;
  throw new ServiceError(
    'bad_request',
    `Cannot read the answer of ${response.url.replace(/\?.*/, '')}: ${problem}; is it this service?`,
  );
}

async function* piecesOf(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  try {
    for await (const bytes of response.body ?? []) yield decoder.decode(bytes, { stream: true });
  } catch (error) {
    throw new ServiceError('bad_request', `The answer was cut off: ${cleanText(messageOf(error))}`);
  }
  yield decoder.decode();
}
