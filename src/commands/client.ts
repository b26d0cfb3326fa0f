import * as v from 'valibot';
import { ServiceError, messageOf } from '../domain.ts';
import {
  type HttpResponse,
  type HttpFailure,
  type HttpStream,
  httpRequest,
  httpStream,
} from '../http-client.ts';
import { asObject, asText, tryParse } from '../json.ts';
import { cleanText, quote } from '../text.ts';

/** How long a response may take; for a stream, only its beginning. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Statuses of a service, or a proxy before it, that is starting or overloaded. */
const PASSING_STATUSES = new Set([429, 502, 503, 504]);
/** How much of the service's words an error repeats: a refusal may name several fields. */
const MAX_QUOTED_LENGTH = 500;

/**
 * Talks to a running service as any client would. Its errors are one line that a terminal can show.
 */
export interface Client {
  /** The JSON of the response, checked. */
  get<Schema extends v.GenericSchema>(path: string, schema: Schema): Promise<v.InferOutput<Schema>>;
  post<Schema extends v.GenericSchema>(
    path: string,
    body: unknown,
    schema: Schema,
  ): Promise<v.InferOutput<Schema>>;
  /** The text of the response as it arrives. */
  stream(path: string): Promise<AsyncIterable<string>>;
}

/** Thrown when no response comes, or one that says to try again later. */
export class Unavailable extends ServiceError {
  constructor(message: string) {
    super('service_unavailable', message);
  }
}

/** Thrown for a response that refuses the request. `detail` is the service's own words. */
export class Refused extends ServiceError {
  readonly status: number;
  readonly detail: string;

  constructor(message: string, { status, detail }: { status: number; detail: string }) {
    super('service_unavailable', message);
    this.status = status;
    this.detail = detail;
  }
}

/**
 * Throws error responses with the service's own words. `token` is null when the service needs none.
 */
export function createClient(baseUrl: string, token: string | null): Client {
  const base = baseUrl.replace(/\/+$/, '');
  const access = token === null ? {} : { authorization: `Bearer ${token}` };
  const request = {
    headers: access,
    timeoutMs: REQUEST_TIMEOUT_MS,
    maxBytes: Infinity,
    isDirect: true,
  } as const;
  return {
    async get(path, schema) {
      const url = base + path;
      return read(reached(url, await httpRequest(url, request)), {
        what: `GET ${path}`,
        url,
        schema,
      });
    },
    async post(path, content, schema) {
      const url = base + path;
      const headers = { ...access, 'content-type': 'application/json' };
      const posted = {
        ...request,
        method: 'POST',
        headers,
        body: JSON.stringify(content),
      } as const;
      return read(reached(url, await httpRequest(url, posted)), {
        what: `POST ${path}`,
        url,
        schema,
      });
    },
    async stream(path) {
      const url = base + path;
      const { status, body } = reached(url, await httpStream(url, request));
      if (isGood(status)) return piecesOf(body);
      throw refusal(`GET ${path}`, status, (await Array.fromAsync(piecesOf(body))).join(''));
    },
  };
}

/** The response. Failures are thrown: the service may respond in a moment. */
function reached<Response extends HttpResponse | HttpStream>(
  url: string,
  response: Response | HttpFailure,
): Response {
  if (response.failure === undefined) return response;
  const { origin } = new URL(url);
  const reason = cleanText(response.message);
  const advice = '--url or API_URL say where it is';
  throw new Unavailable(`Cannot reach the service at ${origin}: ${reason} (${advice})`);
}

function isGood(status: number): boolean {
  return status >= 200 && status < 300;
}

/** With the `detail` of the response, or with whatever a proxy sent instead. */
function refusal(what: string, status: number, text: string): ServiceError {
  const detail = asText(asObject(tryParse(text))?.['detail']) ?? text;
  const words = quote(detail, MAX_QUOTED_LENGTH);
  const note = status < 400 ? ' (a redirect, which is not followed)' : '';
  const message = `${what.replace(/\?.*/, '')}: ${`${status} ${words}`.trim()}${note}`;
  return PASSING_STATUSES.has(status)
    ? new Unavailable(message)
    : new Refused(message, { status, detail });
}

function read<Schema extends v.GenericSchema>(
  { status, text }: HttpResponse,
  { what, url, schema }: { what: string; url: string; schema: Schema },
): v.InferOutput<Schema> {
  if (!isGood(status)) throw refusal(what, status, text);
  const body = tryParse(text);
  const result = v.safeParse(schema, body);
  if (result.success) return result.output;
  const problem =
    body === undefined
      ? 'it is not JSON'
      : `${v.getDotPath(result.issues[0]) ?? 'it'} is not as expected`;
  throw new ServiceError(
    'service_unavailable',
    `Cannot read the response of ${url.replace(/\?.*/, '')}: ${problem}; is it this service?`,
  );
}

async function* piecesOf(body: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  try {
    for await (const bytes of body) yield decoder.decode(bytes, { stream: true });
  } catch (error) {
    throw new ServiceError(
      'service_unavailable',
      `The response was cut off: ${cleanText(messageOf(error))}`,
    );
  }
  yield decoder.decode();
}
