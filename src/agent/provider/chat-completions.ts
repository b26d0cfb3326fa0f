import { setTimeout as sleep } from 'node:timers/promises';
import { type HttpFailure, type HttpResponse, httpRequest } from '../../http-client.ts';
import { type Endpoint, MAX_LINE_BYTES, type ToolDescription } from '../../protocol.ts';
import { asObject, tryParse } from '../../json.ts';
import type { ChatMessage, Model } from '../model.ts';
import { waitAfter } from './retry.ts';
import { judge } from './verdict.ts';

/**
 * A longer response is a mistake. An answer made of a shorter one fits a line of the pipe, although its thoughts are in it
 * twice and arguments that came as an object are encoded once more.
 */
const MAX_ANSWER_BYTES = MAX_LINE_BYTES / 4;
/** A shorter key is not a secret but a word such as `none` or `ollama`, which may occur in an answer. */
const MIN_SECRET_LENGTH = 8;
const PATH = '/chat/completions';
/** OpenAI refuses a history with other tool names, which models do invent. */
const WIRE_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

export interface ChatOptions {
  tools: readonly ToolDescription[];
  /** Called for every request without an answer; `waitMs` is null after the last one. */
  onFailure: (reason: string, waitMs: number | null) => void;
}

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
      const { reason } = verdict;
      const isLast = !verdict.passes || tries > endpoint.maxRetries;
      const waitMs = isLast ? null : waitAfter(tries, { baseDelayMs: endpoint.baseDelayMs, ...verdict });
      onFailure(reason, waitMs);
      if (waitMs === null) throw new Error(`The model provider ${reason}${tries > 1 ? ` (after ${tries} tries)` : ''}`);
      await sleep(waitMs);
    }
  };
}

/** One try. The key is removed from a response that repeats it before any part of it is cut or kept. */
async function post({ baseUrl, apiKey, requestTimeoutMs }: Endpoint, body: string): Promise<HttpResponse | HttpFailure> {
  const result = await httpRequest(completionsUrl(baseUrl), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }) },
    body,
    timeoutMs: requestTimeoutMs,
    maxBytes: MAX_ANSWER_BYTES,
  });
  if (result.failure !== undefined) return result;
  const headers = Object.entries(result.headers).map(([name, value]) => [name, withoutKey(String(value), apiKey)]);
  return { ...result, headers: Object.fromEntries(headers), text: withoutKey(normalised(result.text), apiKey) };
}

/** JSON in its one form, so that a key that is spelled in escapes is found too. */
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
      arguments: asObject(tryParse(text)) === undefined ? '{}' : text, // a history with broken arguments is refused
    },
  }));
  return { role: 'assistant', content: content || null, ...carried?.message, tool_calls: calls };
}

function withoutKey(text: string, key: string | null): string {
  return key === null || key.length < MIN_SECRET_LENGTH ? text : text.replaceAll(key, '[key]');
}
