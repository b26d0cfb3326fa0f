import { setTimeout as sleep } from 'node:timers/promises';
import type { EntryApi } from '#domain/vocabulary.ts';
import { asObject, asText, type Json } from '#json/json.ts';
import type { Addition, ProviderEndpoint, TokenUsage, ToolDescription } from '#wire/protocol.ts';
import { type ChatMessage, KeyRefused, type Model } from '#agent/model.ts';
import { chat } from './chat.ts';
import type { Dialect } from './dialect.ts';
import { messages } from './messages.ts';
import { wellFormed } from './answer.ts';
import { agent } from './own-agent.ts';
import { responses } from './responses.ts';
import { sendModelRequest } from './transport.ts';
import { classify, type Refusal, waitAfter } from './verdict.ts';
import { markWritten } from './written-calls.ts';

const KEY_REFUSED: readonly number[] = [401, 403];

export interface FailedTry {
  reason: string;
  /** Until the next try; null after the last one. */
  waitMs: number | null;
  /** What the provider reports of it all the same. */
  usage: TokenUsage | null;
}

interface AskOptions {
  tools: readonly ToolDescription[];
  /** Whether the answer is the arguments of the only tool, which is not called. */
  isOneAnswer?: boolean;
  onFailure: (failed: FailedTry) => void;
  /**
   * Called when the provider refused what the service adds by itself; later requests go without it.
   */
  onRefused?: (refused: readonly Addition[], reason: string) => void;
}

/**
 * A model behind an endpoint. Each call is one step: one request, and retries of it after failures
 * that may pass. Throws an `Error` with the provider's own words, and never with the key.
 */
export function createProviderModel(
  endpoint: ProviderEndpoint,
  { tools, isOneAnswer = false, onFailure, onRefused }: AskOptions,
): Model {
  const { api, baseUrl, keyOrigin, parameters, stream, cacheKey } = endpoint;
  const dialect = dialects[api];
  const leftOut = new Set<Addition>(endpoint.leftOut);
  const madeBy = describeServer(endpoint);
  const wanted = isOneAnswer ? { tools: [], format: tools[0] ?? null } : { tools };
  return async (conversation) => {
    assertSameProvider(conversation, madeBy);
    const step = conversation.filter(({ role }) => role === 'assistant').length + 1;
    // One answer a day that is none has its second chance.
    const mayBeEmpty = isOneAnswer || conversation.some(({ role }) => role === 'tool');
    const read: Dialect['read'] = (...response) => {
      const answer = dialect.read(...response);
      return isOneAnswer ? answer : markWritten(answer, conversation); // there, text is wanted
    };
    for (let tries = 1; ; ) {
      const added: Addition[] = []; // what the entry did not ask for
      const adds = (addition: Addition) => !leftOut.has(addition) && added.push(addition) > 0;
      const isStreamed = stream === 'set' || (stream === 'added' && adds('stream'));
      const body = dialect.body({
        conversation,
        ...wanted,
        parameters,
        isStreamed,
        cacheKey,
        adds,
      });
      const request = { dialect, body: wellFormed(JSON.stringify(body)), isStreamed };
      const asked = { step, read, mayBeEmpty };
      const verdict = classify(await sendModelRequest(endpoint, request), asked);
      if ('answer' in verdict) {
        const { carried, ...answer } = verdict.answer;
        return { ...answer, carried: carried && { madeBy, ...carried } };
      }
      const { status, words, usage } = verdict;
      const isKeyRefused = KEY_REFUSED.includes(status);
      const reason = isKeyRefused
        ? `returned ${status} (${keyOrigin}, host ${new URL(baseUrl).host}): ${words}`
        : verdict.reason;
      const refused = findRefused(verdict, added, hasEffort(parameters));
      if (refused.length > 0) {
        for (const addition of refused) leftOut.add(addition);
        onFailure({ reason, waitMs: 0, usage });
        onRefused?.(refused, reason);
        continue; // at once: it is another request
      }
      const isLast = !verdict.isTransient || tries > endpoint.maxRetries;
      const waitMs = isLast ? null : waitAfter(tries, endpoint.baseDelayMs, verdict.retryAfterMs);
      onFailure({ reason, waitMs, usage });
      if (waitMs === null) {
        const who = api === 'agent' ? 'agent' : 'model provider';
        const message = `The ${who} ${reason}${tries > 1 ? ` (after ${tries} tries)` : ''}`;
        throw isKeyRefused ? new KeyRefused(message) : new Error(message);
      }
      tries += 1;
      await sleep(waitMs);
    }
  };
}

/** Who can read what goes back with an answer: dialect, URL without its secrets, and model. */
function describeServer({ api, baseUrl, parameters }: ProviderEndpoint): string {
  const { origin, pathname } = new URL(baseUrl);
  return `${String(parameters['model'])} at ${origin}${pathname.replace(/\/+$/, '')} (${api})`;
}

/** Blocks that one server signed or encrypted are never sent to another. */
function assertSameProvider(conversation: readonly ChatMessage[], madeBy: string): void {
  for (const message of conversation) {
    const began = message.role === 'assistant' ? message.carried?.madeBy : undefined;
    if (began !== undefined && began !== madeBy)
      throw new Error(
        `The day began with ${began}, whose thoughts ${madeBy} cannot read; it cannot continue there`,
      );
  }
}

/**
 * Names of a field that holds two of the additions: where the entry sets no effort, an error about
 * it is about them.
 */
const AROUND_THINKING = ['reasoning', 'reasoning_effort'];
const THINKING: readonly Addition[] = ['reasoning.summary', 'thinking'];

/**
 * Which of the additions a provider refuses with an error: with status 400 or 422, those that it
 * names as the field (`param`) or as a whole word of its message.
 */
export function findRefused(
  { status, error, words }: Pick<Refusal, 'status' | 'error' | 'words'>,
  added: readonly Addition[],
  setsEffort: boolean,
): Addition[] {
  if (status !== 400 && status !== 422) return [];
  const param = asText(asObject(error)?.['param']) ?? '';
  const isNamed = (name: string) => {
    const word = new RegExp(String.raw`(?<!\w)${name.replace('.', String.raw`\.`)}(?!\w)`);
    return word.test(param) || word.test(words);
  };
  const isAboutThinking = !setsEffort && AROUND_THINKING.some(isNamed);
  return added.filter(
    (addition) => isNamed(addition) || (isAboutThinking && THINKING.includes(addition)),
  );
}

/** Whether an entry's parameters set how much a model thinks. */
export function hasEffort(parameters: Json): boolean {
  const { reasoning, reasoning_effort, output_config } = parameters;
  return (
    reasoning_effort != null ||
    asObject(reasoning)?.['effort'] != null ||
    asObject(output_config)?.['effort'] != null
  );
}

export const dialects: Record<EntryApi, Dialect> = { chat, responses, messages, agent };
