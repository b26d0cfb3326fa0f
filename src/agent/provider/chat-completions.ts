import { setTimeout as sleep } from 'node:timers/promises';
import { type HttpFailure, type HttpResponse, httpRequest } from '../../http-client.ts';
import { type Endpoint, MAX_LINE_BYTES, type ToolDescription } from '../../protocol.ts';
import { asObject, tryParse } from '../../json.ts';
import { type ChatMessage, KeyRefused, type Model } from '../model.ts';
import { waitAfter } from './retry.ts';
import { classify } from './verdict.ts';

/**
 * A longer response is a mistake. The answer from a shorter one fits a line of the pipe, although it contains the thoughts
 * twice and re-encodes arguments that came as an object.
 */
const MAX_RESPONSE_BYTES = MAX_LINE_BYTES / 4;
/** A shorter key is not a secret but a word such as `none` or `ollama`, which may occur in an answer. */
const MIN_SECRET_LENGTH = 8;
const PATH = '/chat/completions';
/** OpenAI refuses a history with other tool names, but models do invent such names. */
const WIRE_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

export interface ChatOptions {
  tools: readonly ToolDescription[];
  /** Called for every unanswered request; `waitMs` is null after the last one. */
  onFailure: (reason: string, waitMs: number | null) => void;
}

/**
 * A model behind a Chat Completions endpoint. Each call is one step: one request, and retries of it after failures that may
 * pass. Throws an `Error` with the provider's own words, and never with the key.
 */
export function createChatModel(endpoint: Endpoint, { tools, onFailure }: ChatOptions): Model {
  const toolList = tools.map((tool) => ({ type: 'function', function: tool }));
  return async (conversation) => {
    const step = conversation.filter(({ role }) => role === 'assistant').length + 1;
    const body = JSON.stringify({ ...endpoint.parameters, messages: conversation.map(wireMessage), tools: toolList });
    for (let tries = 1; ; tries += 1) {
      const verdict = classify(await post(endpoint, body), step);
      if ('answer' in verdict) return verdict.answer;
      const { reason } = verdict;
      const isLast = !verdict.passes || tries > endpoint.maxRetries;
      const waitMs = isLast ? null : waitAfter(tries, { baseDelayMs: endpoint.baseDelayMs, ...verdict });
      onFailure(reason, waitMs);
      if (waitMs !== null) {
        await sleep(waitMs);
        continue;
      }
      const message = `The model provider ${reason}${tries > 1 ? ` (after ${tries} tries)` : ''}`;
      throw verdict.isKeyRefused ? new KeyRefused(message) : new Error(message);
    }
  };
}

/** One try. If the response repeats a secret, it is removed before any part of the response is cut or kept. */
async function post({ baseUrl, apiKey, secrets = [], requestTimeoutMs }: Endpoint, body: string): Promise<HttpResponse | HttpFailure> {
  const result = await httpRequest(completionsUrl(baseUrl), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }) },
    body,
    timeoutMs: requestTimeoutMs,
    maxBytes: MAX_RESPONSE_BYTES,
  });
  if (result.failure !== undefined) return result;
  const clean = (text: string) => withoutKeys(text, [apiKey ?? '', ...secrets]);
  const headers = Object.entries(result.headers).map(([name, value]) => [name, clean(String(value))]);
  return { ...result, headers: Object.fromEntries(headers), text: clean(normalised(result.text)) };
}

/** Normalised JSON, so that a key written with escapes is found too. */
function normalised(text: string): string {
  const body = tryParse(text);
  return body === undefined ? text : JSON.stringify(body);
}

/** A base URL may end in slashes, in the whole path, or in a query as Azure's do. */
function completionsUrl(baseUrl: string): string {
  const url = new URL(baseUrl);
  const path = url.pathname.replace(/\/+$/, '');
  url.pathname = path.endsWith(PATH) ? path : path + PATH;
  return url.href;
}

function wireMessage(message: ChatMessage): Record<string, unknown> {
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.id, content: message.content };
  if (message.role !== 'assistant') return { role: message.role, content: message.content };
  const { content, toolCalls, carried } = message;
  const calls = toolCalls.map(({ id, name, arguments: text }, index) => ({
    ...carried?.calls[index],
    id,
    type: 'function',
    function: {
      name: WIRE_NAME.test(name) ? name : 'unknown',
      arguments: asObject(tryParse(text)) === undefined ? '{}' : text, // providers refuse a history with broken arguments
    },
  }));
  return { role: 'assistant', content: content || null, ...carried?.message, tool_calls: calls };
}

/** The longest first, because one may be part of another. */
function withoutKeys(text: string, keys: readonly string[]): string {
  const long = keys.filter((key) => key.length >= MIN_SECRET_LENGTH).sort((one, other) => other.length - one.length);
  return long.reduce((rest, key) => rest.replaceAll(key, '[key]'), text);
}
