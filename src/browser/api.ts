import { asArray, asObject, tryParse } from '../basics/json.ts';
import { publishedFile } from '../basics/published.ts';
import { isPublished } from './address.ts';
import { h, newId, on } from './element.ts';
import { learnOrder } from './look.ts';
import type {
  Comparison,
  Decisions,
  Found,
  Jobs,
  KnownModels,
  Performance,
  ResultsRecord,
  Session,
  Status,
  TriggerRequest,
  TriggerResponse,
} from './responses.ts';
import { field, openDialog } from './ui.ts';

/** Fired on the document when a request gets no response, and when one gets any. */
export const SERVER_LOST = 'serverlost';
export const SERVER_RESPONDS = 'serverresponds';

const NOT_FOUND = 404;
const NO_RESPONSE = 0;

/** Whether the same request may succeed later: the server was lost, busy or broken. */
export function mayPass(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause === NO_RESPONSE || cause === 429 || (typeof cause === 'number' && cause >= 500);
}

interface RequestOptions {
  method?: string;
  body?: string | undefined;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
}

/**
 * Sends a request with the access token; if the server requires another one, asks the reader for
 * it.
 */
async function send(
  url: string,
  { method = 'GET', body, headers, signal }: RequestOptions,
): Promise<Response> {
  if (isPublished()) return fromFolder(url, signal);
  for (;;) {
    const token = accessToken();
    const response = await fetch(url, {
      method,
      headers: { ...headers, ...(token !== null && { authorization: `Bearer ${token}` }) },
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
    });
    if (response.status !== 401) return response;
    await askForToken(detailOf(await response.text()) ?? 'This server requires an access token.');
  }
}

/** The response that a published folder has in place of a server's. */
async function fromFolder(url: string, signal: AbortSignal | undefined): Promise<Response> {
  const { path, part, model } = publishedFile(url);
  const response = await fetch(path, signal ? { signal } : {});
  if (!response.ok) return response;
  const text = await unpacked(await response.bytes()).text();
  if ((part ?? model) === null) return new Response(text, { status: statusOf(text) });
  const whole = asObject(tryParse(text)) ?? {};
  if (part !== null) {
    const own = JSON.stringify(whole[part]);
    return new Response(own, { status: statusOf(own) });
  }
  const decisions = asArray(whole['decisions'])?.filter(
    (one) => asObject(one)?.['model'] === model,
  );
  return Response.json({ ...whole, decisions, next_before: null });
}

/** Some file servers have the browser decompress what they send. */
function unpacked(bytes: Uint8Array<ArrayBuffer>): Response {
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const { body } = new Response(bytes);
  return isPacked && body
    ? new Response(body.pipeThrough(new DecompressionStream('gzip')))
    : new Response(bytes);
}

/** Of what the service refused there are only its words. */
function statusOf(text: string): number {
  return text.startsWith('{"detail"') ? NOT_FOUND : 200;
}

/** The longest that data waits for the order of the models. */
const ORDER_MS = 3_000;
/** Null once the order is known. */
let learning: Promise<unknown> | null | undefined;

/**
 * The body of a successful response. Rejects with the server's own words, caused by the status.
 * The first of a tab waits for the order of the models, which is requested beside it, so that
 * whatever is drawn has its colours from the start.
 */
async function request<Body>(url: string, options: RequestOptions): Promise<Body> {
  const response = requestText(url, options);
  if (learning === undefined)
    learning = askForModels().then(
      () => (learning = null),
      () => (learning = undefined),
    );
  const text = await response;
  if (learning) await Promise.race([learning, new Promise((go) => setTimeout(go, ORDER_MS))]);
  options.signal?.throwIfAborted();
  return JSON.parse(text) as Body;
}

/** The text of a successful response. Rejects as `request` does. */
export async function requestText(url: string, options: RequestOptions): Promise<string> {
  let response: Response;
  let text: string;
  try {
    response = await send(url, options);
    text = await response.text();
  } catch (error) {
    if (options.signal?.aborted) throw error;
    document.dispatchEvent(new Event(SERVER_LOST));
    throw new Error('The server is not responding.', { cause: NO_RESPONSE });
  }
  document.dispatchEvent(new Event(SERVER_RESPONDS));
  const { ok, status } = response;
  if (!ok)
    throw new Error(detailOf(text) ?? `The server responded with status ${status}.`, {
      cause: status,
    });
  return text;
}

/** As `request`, but null when the server finds nothing (404). */
async function requestIfFound<Body>(url: string, options: RequestOptions): Promise<Body | null> {
  return request<Body>(url, options).catch((error: unknown) => {
    if (error instanceof Error && error.cause === NOT_FOUND) return null;
    throw error;
  });
}

function detailOf(text: string): string | null {
  const detail = asObject(tryParse(text))?.['detail'];
  return typeof detail === 'string' ? detail : null;
}

/** A job with its model-days; null for an unknown job. */
export function getStatus(jobId: string, signal: AbortSignal): Promise<Status | null> {
  return requestIfFound(`/simulate/status/${encodeURIComponent(jobId)}`, { signal });
}

/** The newest jobs, at most as many as the limit. */
export async function getJobs(limit: number, signal: AbortSignal): Promise<Jobs> {
  const { jobs, ...rest } = await request<Jobs>(`/jobs?limit=${limit}`, { signal });
  return { jobs: jobs.slice(0, limit), ...rest }; // a published folder has all in one file
}

/** A page of the jobs: the request's path and query say which. */
export function getJobPage(url: string, signal: AbortSignal): Promise<Jobs> {
  return request(url, { signal });
}

/** A page of what the models decided. */
export function getDecisions(url: string, signal: AbortSignal): Promise<Decisions> {
  return request(url, { signal });
}

/** A page of messages that contain some words. */
export function getFound(url: string, signal: AbortSignal): Promise<Found> {
  return request(url, { signal });
}

/** The models of the configuration and those with results. */
export async function getModels(signal: AbortSignal): Promise<KnownModels> {
  const known = await askForModels();
  signal.throwIfAborted();
  return known;
}

let asked: Promise<KnownModels> | undefined;

/** One request for all that ask meanwhile. */
function askForModels(): Promise<KnownModels> {
  return (asked ??= requestText('/models', {})
    .then((text) => {
      const known = JSON.parse(text) as KnownModels;
      learnOrder(known.models);
      return known;
    })
    .finally(() => (asked = undefined)));
}

/**
 * The figures of all models over all dates, or of those that the filters choose: by name, or as a
 * query.
 */
export function getPerformance(
  filters: Record<string, string> | string,
  signal: AbortSignal,
): Promise<Performance> {
  return request(`/performance?${new URLSearchParams(filters)}`, { signal });
}

/** Models compared, as the query (with its question mark, or empty) chooses. */
export function getComparison(query: string, signal: AbortSignal): Promise<Comparison> {
  // Readers look as days arrive: what they see holds for all days at once.
  return request(`/comparison${query === '' ? '?' : `${query}&`}looks=daily`, { signal });
}

/** The records of one model-day; none before it is committed. */
export function getDayResults(
  model: string,
  date: string,
  signal: AbortSignal,
): Promise<{ results: ResultsRecord[] }> {
  return request(`/results?${new URLSearchParams({ model, date })}`, { signal });
}

/** The session of a model-day with its whole conversation. */
export async function getSession(
  model: string,
  date: string,
  signal: AbortSignal,
): Promise<Session | null> {
  const query = new URLSearchParams({ model, date, include_full_conversation: 'true' });
  const found = await requestIfFound<{ sessions: Session[] }>(`/reasoning?${query}`, { signal });
  return found?.sessions.at(-1) ?? null;
}

/** Starts a job. Rejects with the reason for which the service refuses it. */
export function triggerJob(job: TriggerRequest): Promise<TriggerResponse> {
  const headers = { 'content-type': 'application/json' };
  return request('/simulate/trigger', { method: 'POST', headers, body: JSON.stringify(job) });
}

/** Cancels a job. Rejects with the reason for which the service refuses it. */
export function cancelJob(jobId: string): Promise<{ message: string }> {
  return request(`/simulate/cancel/${encodeURIComponent(jobId)}`, { method: 'POST' });
}

/** Discards a job that has ended. Rejects as `cancelJob` does. */
export function discardJob(jobId: string): Promise<{ message: string }> {
  return request(`/jobs/${encodeURIComponent(jobId)}`, { method: 'DELETE' });
}

/** The description of the interface, as OpenAPI. */
export function getDescription(signal: AbortSignal): Promise<unknown> {
  return request('/openapi.json', { signal });
}

/** Kept as long as the tab: the next person at this machine has to know the token again. */
const STORED_AS = 'access-token';

let known: string | null | undefined;

/**
 * The token that the reader gave in this tab; null if they gave none, or one that no request can
 * carry.
 */
function accessToken(): string | null {
  known ??= sessionStorage.getItem(STORED_AS);
  return !known || tokenProblem(known) !== '' ? null : known;
}

let asking: Promise<void> | null = null;

/**
 * Asks the reader for an access token and keeps it. All requests that wait for one share the same
 * question.
 */
function askForToken(reason: string): Promise<void> {
  return (asking ??= openQuestion(reason).finally(() => (asking = null)));
}

function openQuestion(reason: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const id = newId();
  const kind = {
    type: 'password',
    name: 'token',
    required: true,
    autocomplete: 'off',
    spellcheck: 'false',
  };
  const input = h('input', { ...kind, 'aria-describedby': id });
  const form = h(
    'form',
    { method: 'dialog' },
    h('p', { id }, reason),
    field('Token', input),
    h('p.quiet', 'It is kept until you close this tab, and sent only to this server.'),
    h('div.actions', h('button.primary', { type: 'submit' }, 'Continue')),
  );
  const dialog = openDialog('Access token', form);
  on(input, 'input', () => input.setCustomValidity(tokenProblem(input.value.trim())));
  on(dialog, 'cancel', (event) => event.preventDefault());
  on(dialog, 'close', () => {
    known = input.value.trim();
    sessionStorage.setItem(STORED_AS, known);
    resolve();
  });
  return promise;
}

/** Signs that word processors and chats put in place of quotes and hyphens, by name. */
const OFTEN_REPLACED: readonly [signs: RegExp, name: string][] = [
  [/[“”„«»‘’‚]/, 'a curly quote'],
  [/[‐‑‒–—]/, 'a dash'],
  [/\s/, 'a blank'],
];

/**
 * Why a text cannot be an access token, for its reader; empty if it can. A header carries visible
 * ASCII characters only.
 */
export function tokenProblem(text: string): string {
  const [wrong] = /[^!-~]/u.exec(text) ?? [];
  if (wrong === undefined) return '';
  const name = OFTEN_REPLACED.find(([signs]) => signs.test(wrong))?.[1] ?? `“${wrong}”`;
  return `A token never contains ${name}. Copy it again exactly as you received it.`;
}
