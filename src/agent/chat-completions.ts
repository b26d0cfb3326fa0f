import { setTimeout as sleep } from 'node:timers/promises';
import { type HttpAnswer, type HttpFailure, httpRequest } from '../http-client.ts';
import type { Endpoint, ToolDescription } from '../protocol.ts';
import { readCompletion } from './dialects.ts';
import type { ChatMessage, Model, ModelAnswer } from './model.ts';

/** A longer answer is no answer of a model that trades, but somebody's mistake. */
const MAX_ANSWER_BYTES = 2 * 1024 * 1024;
/** No wait between two tries is longer, whatever the provider asks for. */
const MAX_WAIT_MS = 60_000;
/** How much of a provider's words an error repeats. */
const MAX_QUOTED_LENGTH = 300;
const MAX_READ_OF_PAGE = 4_000;
const PASSING_STATUSES = new Set([408, 409, 429]);

export interface ChatOptions {
  tools: readonly ToolDescription[];
  /** Told of every request that brought no answer. */
  onFailure: (reason: string, waitMs: number | null) => void;
}

/** What one try came to. Only what may pass is tried again; a tool never is. */
type Verdict = { answer: ModelAnswer } | { reason: string; passes: boolean; retryAfterMs?: number };

/**
 * A model behind a Chat Completions endpoint. Each call is one step: one request, and further tries of the same request
 * when it failed in a way that may pass. Throws an `Error` with the provider's own words, and never with the key.
 */
export function createChatModel(endpoint: Endpoint, { tools, onFailure }: ChatOptions): Model {
  const toolList = tools.map((tool) => ({ type: 'function', function: tool }));
  return async (conversation) => {
    const step = conversation.filter(({ role }) => role === 'assistant').length + 1;
    const body = JSON.stringify({ ...endpoint.parameters, messages: conversation.map(wireMessage), tools: toolList });
    for (let tries = 1; ; tries += 1) {
      const verdict = judge(await post(endpoint, body), step);
      if ('answer' in verdict) return verdict.answer;
      const reason = withoutKey(verdict.reason, endpoint.apiKey);
      const isLast = !verdict.passes || tries > endpoint.maxRetries;
      const waitMs = isLast ? null : waitBefore(tries, { baseDelayMs: endpoint.baseDelayMs, ...verdict });
      onFailure(reason, waitMs);
      if (waitMs === null) throw new Error(`The model provider ${reason}${tries > 1 ? ` (after ${tries} tries)` : ''}`);
      await sleep(waitMs);
    }
  };
}

function post({ baseUrl, apiKey, requestTimeoutMs }: Endpoint, body: string): Promise<HttpAnswer | HttpFailure> {
  return httpRequest(`${baseUrl.replace(/\/+$/, '')}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }) },
    body,
    timeoutMs: requestTimeoutMs,
    maxBytes: MAX_ANSWER_BYTES,
  });
}

function wireMessage(message: ChatMessage): Record<string, unknown> {
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.id, content: message.content };
  if (message.role !== 'assistant') return { role: message.role, content: message.content };
  const calls = message.toolCalls.map(({ id, name, arguments: text }) => ({
    id,
    type: 'function',
    function: { name, arguments: isJson(text) ? text : '{}' }, // providers refuse a history with broken arguments
  }));
  return { role: 'assistant', content: message.content || null, ...(calls.length > 0 && { tool_calls: calls }) };
}

function judge(result: HttpAnswer | HttpFailure, step: number): Verdict {
  if (result.failure !== undefined) {
    const passes = result.failure === 'connection' || result.failure === 'timeout';
    return { reason: `could not be asked: ${result.message}`, passes };
  }
  const body = tryParse(result.text);
  // Gateways send the status of whoever stands behind them inside an answer with status 200.
  const inner = (body as { error?: { code?: unknown } } | undefined)?.error?.code;
  const status = result.status === 200 && typeof inner === 'number' ? inner : result.status;
  if (status !== 200 || (body as { error?: unknown } | undefined)?.error != null)
    return judgeError(result, { body, status });
  if (body === undefined) return { reason: `answered ${describeForeign(result)}`, passes: false };
  try {
    return { answer: readCompletion(body, step) };
  } catch (error) {
    return { reason: `sent an answer that cannot be read: ${(error as Error).message}`, passes: false };
  }
}

function judgeError(answer: HttpAnswer, { body, status }: { body: unknown; status: number }): Verdict {
  const words = body === undefined ? describeForeign(answer) : `${status}: ${quote(errorWords(body))}`;
  const redirect = status >= 300 && status < 400 ? ' (a redirect, which is not followed: check the base URL)' : '';
  const passes = PASSING_STATUSES.has(status) || status >= 500;
  const retryAfterMs = readRetryAfter(answer.headers);
  return { reason: `answered ${words}${redirect}`, passes, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

/** An answer that is no JSON: a proxy's error page, say. */
function describeForeign({ status, headers, text }: HttpAnswer): string {
  const type = headers['content-type'] ?? 'no content type';
  return `${status} with ${quote(type)} instead of JSON: ${quote(withoutTags(text))}`;
}

/** The sentence in an error body, wherever this provider puts it. */
function errorWords(body: unknown): string {
  const { error, message, detail } = (body ?? {}) as Record<string, unknown>;
  const words = (error as { message?: unknown } | undefined)?.message ?? error ?? message ?? detail ?? body;
  return typeof words === 'string' ? words : JSON.stringify(words);
}

function withoutTags(page: string): string {
  return page.slice(0, MAX_READ_OF_PAGE).replace(/<[^<>]*>/g, ' ');
}

function quote(text: string): string {
  const line = text.slice(0, MAX_READ_OF_PAGE).replace(/\s+/g, ' ').trim();
  return line.length <= MAX_QUOTED_LENGTH ? line : `${line.slice(0, MAX_QUOTED_LENGTH)}…`;
}

/** `Retry-After` in seconds or as a date, or OpenAI's `retry-after-ms`. */
function readRetryAfter(headers: HttpAnswer['headers']): number | undefined {
  const exact = Number(headers['retry-after-ms'] ?? NaN);
  if (exact >= 0) return exact;
  const text = headers['retry-after'];
  if (text === undefined) return undefined;
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/** Doubles from try to try, with jitter so that models do not come back all at once; what the provider asks for counts more. */
function waitBefore(
  tries: number,
  { baseDelayMs, retryAfterMs = 0 }: { baseDelayMs: number; retryAfterMs?: number },
): number {
  const backOff = baseDelayMs * 2 ** (tries - 1) * (0.5 + Math.random() / 2);
  return Math.min(MAX_WAIT_MS, Math.max(backOff, retryAfterMs));
}

function withoutKey(text: string, key: string | null): string {
  return key === null || key === '' ? text : text.replaceAll(key, '[key]');
}

function isJson(text: string): boolean {
  return tryParse(text) !== undefined;
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
