import { asObject, asObjects, tryParse } from '#json/json.ts';
import { inStudy, publishedFile } from '../../publish/published.ts';
import { isPublished, pageStudy, studyUrl } from './address.ts';
import { h, newId, on } from './element.ts';
import { ANEW, replaceAddress } from './history.ts';
import { learnOrder } from './look.ts';
import type { Comparison, KnownModels, Responses } from '../responses.ts';
import { field, openDialog } from './ui.ts';

const NOT_FOUND = 404;
const NO_RESPONSE = 0;

/** Whether the same request may succeed later: the server was lost, busy or broken. */
export function isTransient(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause === NO_RESPONSE || cause === 429 || (typeof cause === 'number' && cause >= 500);
}

/** For `catch`: null for what the server does not find. */
export function nullIfNotFound(error: unknown): null {
  if (error instanceof Error && error.cause === NOT_FOUND) return null;
  throw error;
}

/** The longest that data waits for the order of the models. */
const ORDER_MS = 3_000;

/**
 * What the service responds to a GET; the query begins with its question mark, or is given by name.
 * Rejects with the server's own words, caused by the status. The first of a tab waits for the order
 * of the models, so that whatever is drawn has its colours from the start.
 */
export async function get<Path extends keyof Responses>(
  path: Path,
  query: string | Record<string, string>,
  signal: AbortSignal,
): Promise<Responses[Path]> {
  const study = pageStudy();
  const order =
    knownStudy === study ? null : getModels(inStudy('/models', study)).catch(() => null);
  const text = typeof query === 'string' ? query : `?${new URLSearchParams(query)}`;
  const url = inStudy(path + text, study);
  // A folder has only the requests of its studies.
  if (order && isPublished()) await order.then(() => signal.throwIfAborted());
  const body =
    path === '/models' ? await getModels(url) : JSON.parse(await fetchText(url, { signal }));
  if (order) await Promise.race([order, new Promise((go) => setTimeout(go, ORDER_MS))]);
  signal.throwIfAborted();
  return body;
}

/** The study whose models have their order; undefined before the first. */
let knownStudy: string | null | undefined;
const pendingModels = new Map<string, Promise<KnownModels>>();

/** One request for all that ask meanwhile. */
function getModels(url: string): Promise<KnownModels> {
  const pending =
    pendingModels.get(url) ??
    fetchText(url)
      // The page says that there is no such study; its choices need those that there are.
      .catch((error: Error) => (error.cause === 422 ? fetchText('/models') : Promise.reject(error)))
      .then((text) => learnModels(JSON.parse(text), url))
      .finally(() => pendingModels.delete(url));
  pendingModels.set(url, pending);
  return pending;
}

/** Where there are studies and the address has none, the page is shown anew in the newest. */
function learnModels(known: KnownModels, url: string): KnownModels {
  const study = pageStudy();
  if (url !== inStudy('/models', study)) return known;
  if (study === null && known.studies.length > 0)
    replaceAddress(studyUrl(known.newest_study ?? ''), ANEW);
  else {
    learnOrder(known.models, study !== knownStudy);
    knownStudy = study;
  }
  return known;
}

/** Models compared, as the query chooses. */
export function getComparison(query: string, signal: AbortSignal): Promise<Comparison> {
  // Readers look as days arrive: what they see holds for all days at once.
  return get('/comparison', `${query === '' ? '?' : `${query}&`}looks=daily`, signal);
}

/** Starts, cancels or discards a job. Rejects with the reason for which the service refuses it. */
export async function send<Body>(
  method: 'POST' | 'DELETE',
  url: string,
  body?: object,
): Promise<Body> {
  const headers = { 'content-type': 'application/json' };
  const content = body && { headers, body: JSON.stringify(body) };
  return JSON.parse(await fetchText(url, { method, ...content }));
}

/** The text of a successful response. Rejects as `get` does. */
export async function fetchText(url: string, request: RequestInit = {}): Promise<string> {
  const { ok, status, text } = await fetchResponse(url, request).catch(() => {
    request.signal?.throwIfAborted();
    throw new Error('The server is not responding.', { cause: NO_RESPONSE });
  });
  if (ok) return text;
  throw new Error(errorDetail(text) ?? `The server responded with status ${status}.`, {
    cause: status,
  });
}

async function fetchResponse(url: string, request: RequestInit) {
  const response = await (isPublished() ? fetchFromFolder(url) : fetchWithToken(url, request));
  return { ok: response.ok, status: response.status, text: await response.text() };
}

/** Sends the access token along; if the server requires another one, asks the reader for it. */
async function fetchWithToken(url: string, request: RequestInit): Promise<Response> {
  for (;;) {
    const token = accessToken();
    const authorization = token !== null && { authorization: `Bearer ${token}` };
    const headers = { ...request.headers, ...authorization };
    const response = await fetch(url, { ...request, headers });
    if (response.status !== 401) return response;
    await askForToken(
      errorDetail(await response.text()) ?? 'This server requires an access token.',
    );
  }
}

/** The response that a published folder has in place of a server's. */
async function fetchFromFolder(url: string): Promise<Response> {
  const { path, part, model } = publishedFile(url);
  const response = await fetch(path);
  if (!response.ok) return response;
  const text = await decompressed(await response.bytes()).text();
  if (part === null && model === null) return storedResponse(text);
  const whole = asObject(tryParse(text)) ?? {};
  if (part !== null) return storedResponse(JSON.stringify(whole[part]));
  const decisions = asObjects(whole['decisions']).filter((one) => one['model'] === model);
  return Response.json({ ...whole, decisions, next_before: null });
}

/** Stored response: 404 where the folder has the words of a refusal. */
function storedResponse(text: string): Response {
  return new Response(text, { status: text.startsWith('{"detail"') ? NOT_FOUND : 200 });
}

/** Some file servers have the browser decompress what they send. */
function decompressed(bytes: Uint8Array<ArrayBuffer>): Response {
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const sent = new Response(bytes);
  return isPacked && sent.body
    ? new Response(sent.body.pipeThrough(new DecompressionStream('gzip')))
    : sent;
}

function errorDetail(text: string): string | null {
  const detail = asObject(tryParse(text))?.['detail'];
  return typeof detail === 'string' ? detail : null;
}

/** Kept as long as the tab: the next person at this machine has to know the token again. */
const TOKEN_KEY = 'access-token';

/**
 * The token that the reader gave in this tab; null if they gave none, or one that no request can
 * carry.
 */
function accessToken(): string | null {
  const token = sessionStorage.getItem(TOKEN_KEY);
  return !token || tokenProblem(token) !== '' ? null : token;
}

let pendingToken: Promise<void> | null = null;

/** Asks the reader for an access token and keeps it; one question for all requests that wait. */
function askForToken(reason: string): Promise<void> {
  return (pendingToken ??= openTokenDialog(reason).finally(() => (pendingToken = null)));
}

function openTokenDialog(reason: string): Promise<void> {
  const id = newId();
  const kind = { type: 'password', required: true, autocomplete: 'off' };
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
  return new Promise((resolve) => {
    on(dialog, 'close', () => {
      sessionStorage.setItem(TOKEN_KEY, input.value.trim());
      resolve();
    });
  });
}

/**
 * Why a text cannot be an access token, for its reader; empty if it can. A header carries visible
 * ASCII characters only, in place of which word processors and chats put others.
 */
export function tokenProblem(text: string): string {
  const [wrong] = /[^!-~]/u.exec(text) ?? [];
  if (wrong === undefined) return '';
  const name = wrong.trim() === '' ? 'a blank' : `the sign ${wrong}`;
  return `A token never contains ${name}. Copy it again exactly as you received it.`;
}
