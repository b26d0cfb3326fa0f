import type { Health, Jobs, KnownModels, Performance, ResultsRecord, Session, Status } from './responses.ts';
import type { TriggerRequest, TriggerResponse } from './responses.ts';
import { accessToken, askForToken } from './token.ts';

/** Fired on the document when a request stays without any answer, and when one is answered. */
export const SERVER_LOST = 'serverlost';
export const SERVER_ANSWERS = 'serveranswers';

/** A request that did not succeed: what the server said, and its status; 0 when it did not answer at all. */
export class RequestError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.name = 'RequestError';
    this.status = status;
  }
}

export interface RequestOptions {
  method?: string;
  body?: string | undefined;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
}

/** Sends a request with the access token, and asks the reader for one where it is needed. */
export async function send(path: string, { method = 'GET', body, headers, signal }: RequestOptions): Promise<Response> {
  for (;;) {
    const token = accessToken();
    const response = await fetch(path, {
      method,
      headers: { ...headers, ...(token !== null && { authorization: `Bearer ${token}` }) },
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
    });
    if (response.status !== 401) return response;
    await askForToken(detailOf(await response.text()) ?? 'This server asks for an access token.');
  }
}

async function ask<Answer>(path: string, options: RequestOptions = {}): Promise<Answer> {
  let response: Response;
  let text: string;
  try {
    response = await send(path, options);
    text = await response.text();
  } catch (error) {
    if (options.signal?.aborted) throw error;
    document.dispatchEvent(new Event(SERVER_LOST));
    throw new RequestError(0, 'The server does not answer. It is asked again in a moment.');
  }
  document.dispatchEvent(new Event(SERVER_ANSWERS));
  if (!response.ok) throw new RequestError(response.status, detailOf(text) ?? `The server answered ${response.status}`);
  return JSON.parse(text) as Answer;
}

function detailOf(text: string): string | null {
  try {
    const { detail } = JSON.parse(text) as { detail?: unknown };
    return typeof detail === 'string' ? detail : null;
  } catch {
    return null;
  }
}

function query(values: Record<string, string | undefined>): string {
  const given = Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

/** The answer, or null where there is nothing under that name (404). */
async function askIfThere<Answer>(path: string, options: RequestOptions): Promise<Answer | null> {
  try {
    return await ask<Answer>(path, options);
  } catch (error) {
    if (error instanceof RequestError && error.status === 404) return null;
    throw error;
  }
}

type Signal = AbortSignal | undefined;

export function getHealth(signal: Signal): Promise<Health> {
  return ask('/health', { signal });
}

export function getStatus(jobId: string, signal: Signal): Promise<Status | null> {
  return askIfThere(`/simulate/status/${encodeURIComponent(jobId)}`, { signal });
}

export function getJobs(limit: number, signal: Signal): Promise<Jobs> {
  return ask(`/jobs${query({ limit: String(limit) })}`, { signal });
}

export function getModels(signal: Signal): Promise<KnownModels> {
  return ask('/models', { signal });
}

/** Of all models, or of one. */
export function getPerformance(model: string | undefined, signal: Signal): Promise<Performance> {
  return ask(`/performance${query({ model })}`, { signal });
}

export function getResults(model: string, signal: Signal): Promise<{ results: ResultsRecord[] }> {
  return ask(`/results${query({ model })}`, { signal });
}

/** The session of a model-day with its whole conversation. */
export async function getSession(model: string, date: string, signal: Signal): Promise<Session | null> {
  const path = `/reasoning${query({ model, date, include_full_conversation: 'true' })}`;
  const answer = await askIfThere<{ sessions: Session[] }>(path, { signal });
  return answer?.sessions.at(-1) ?? null;
}

export function triggerJob(request: TriggerRequest): Promise<TriggerResponse> {
  return ask('/simulate/trigger', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request),
  });
}

export function cancelJob(jobId: string): Promise<{ message: string }> {
  return ask(`/simulate/cancel/${encodeURIComponent(jobId)}`, { method: 'POST' });
}

export function getDescription(signal: Signal): Promise<unknown> {
  return ask('/openapi.json', { signal });
}
