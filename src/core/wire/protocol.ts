import * as v from 'valibot';
import type { MarketRules } from '#domain/market-rules.ts';
import type { Limits } from '#settings/configuration-schema.ts';
import { answerFaults, type BaselineStrategy, type EntryApi } from '#domain/vocabulary.ts';
import { tryParse } from '#json/json.ts';
import { recordSchema } from '#json/records.ts';

/**
 * Every message between the parent and the child of a model-day: JSON lines over the child's stdin
 * and stdout. The child gets one `start` and as many `past_message`s as that announces, sends its
 * `prompt`, then one `answer` per step (and a `failed_request` for every try without one), gets
 * `tool_results` for each answer that calls tools, that is to be a decision or that its provider
 * paused, before it asks again, and ends with one `outcome`. The parent checks every line of a
 * child, which may have gone wrong; the child trusts its parent, which is of the same build.
 * Amounts of money are in the market's currency; what models cost is in dollars.
 */

/** A longer line ends the model-day, so that an endless one cannot fill memory. */
export const MAX_LINE_BYTES = 4 * 1024 * 1024;
/** Tool calls that one answer may contain; providers allow as many. */
export const MAX_TOOL_CALLS = 128;
/**
 * The most tokens of one kind that one answer may report: ten times the largest context window of
 * any model. A higher count is a provider's mistake, and such counts would add up to more than a
 * number holds exactly.
 */
export const MAX_TOKENS_OF_ANSWER = 100_000_000;
/** The most dollars that one answer may report: more than a job ever cost. */
export const MAX_COST_OF_ANSWER = 1_000_000;
/** Why a request to a provider failed, in UTF-16 units; the parent logs it. */
export const MAX_FAILURE_REASON_LENGTH = 2_000;
/** A name or id that a provider gives of itself, in UTF-16 units. */
export const MAX_SERVED_LENGTH = 200;
/** Why a model-day failed, in UTF-16 units. */
export const MAX_ERROR_LENGTH = 4_000;

/**
 * What the service adds to a request by itself, because models are at their best with it. A
 * provider may refuse any of it.
 */
export const additions = [
  'stream',
  'stream_options',
  'reasoning.summary',
  'include',
  'prompt_cache_key',
  'thinking',
  'cache_control',
  'response_format',
  'text.format',
  'tool_choice',
] as const;
export type Addition = (typeof additions)[number];

/** What the model knows on the morning of the session date. */
export interface Brief {
  date: string;
  cash: number;
  portfolioValue: number;
  holdings: { symbol: string; quantity: number; price: number }[];
  /** Dividends that were paid this morning on what was held, a line each. */
  dividends?: readonly string[];
  /** What became of holdings that were exchanged this morning, a sentence each. */
  exchanges?: readonly string[];
  /** What is held without a price on this morning and the one before. */
  unpriced?: { symbol: string; lastClose: string }[];
  /** Each symbol on this morning; null where unknown. No price limit holds for adjusted prices. */
  quotes: {
    symbol: string;
    previousClose: number | null;
    open: number | null;
    isAdjusted?: 0 | 1 | null;
  }[];
  rules: MarketRules;
  /** The model's note from an earlier day; null without one, left out when it keeps no notes. */
  note?: string | null;
  /** Whether nothing of this date is known: then no symbol has an open. */
  isOpenHidden?: boolean;
  limits?: Limits | undefined;
  /** What of the orders of the day before did not fill, a sentence each. */
  unfilled?: readonly string[];
  /** What left the universe since the model's session before. */
  left?: readonly string[];
  /** How many documents of each kind it can read, the most frequent first; left out without any. */
  documents?: readonly { kind: string; documents: number }[] | undefined;
  /** Of a day that ends with one decision: what its model reads besides. */
  decision?: OneAnswer | AgentTerms;
}

/** One request, with what the tools would have said: the last closes by symbol, oldest first. */
export interface OneAnswer {
  by: 'one_answer';
  dates: string[];
  /** Null where a symbol has none on a date. */
  closes: { symbol: string; closes: (number | null)[] }[];
  /** The newest documents; left out without any. */
  titles?: { date: string; kind: string; title: string }[];
}

/** An agent of the user's. */
export interface AgentTerms {
  by: 'agent';
  /** The entry's and the run's name. */
  signature: string;
  run: string;
  universe: string[];
  maxToolCalls: number;
  seconds: number;
}

export interface ToolDescription {
  name: string;
  description: string;
  parameters: Record<string, unknown>;
}

/** A model's endpoint, with its time limit and retries. */
export interface ProviderEndpoint {
  kind: 'provider';
  /** The dialect in which it is asked. */
  api: EntryApi;
  /** Without a path: `https://host/v1`. */
  baseUrl: string;
  /** Null for a server that needs no key. */
  apiKey: string | null;
  /** Where the key is from, in words: the variable, or the field of the entry. */
  keyOrigin: string;
  /** What else in the URL and the parameters is a secret: no error and no answer repeats it. */
  secrets?: string[];
  /** What the entry sets: `model`, and other fields of the body in the dialect's names. */
  parameters: Record<string, unknown>;
  /** Whether answers come as streams: the entry says so, the service adds it by itself, or not. */
  stream: 'set' | 'added' | 'off';
  /** What shares a prompt at the provider; null where it knows no such field. */
  cacheKey: string | null;
  /** Of an agent's: what makes two requests of one model-day the same. */
  idempotencyKey?: string;
  /** What the service would add by itself, but the provider has refused. */
  leftOut: Addition[];
  requestTimeoutMs: number;
  maxRetries: number;
  baseDelayMs: number;
}

/** What no error and no answer of a model repeats. */
export function modelSecrets(model: StartMessage['model']): (string | null)[] {
  return model.kind === 'provider' ? [model.apiKey, ...(model.secrets ?? [])] : [];
}

export interface StartMessage {
  type: 'start';
  /** The name of the run. */
  signature: string;
  /** The signature of its entry; `signature` is that of the run. Neither has a study's name. */
  family: string;
  model:
    | { kind: 'simulated' }
    | { kind: 'baseline'; strategy: BaselineStrategy }
    | ProviderEndpoint;
  maxSteps: number;
  /** Instructions of its entry for the system prompt. */
  prompt: string | null;
  brief: Brief;
  tools: ToolDescription[];
  /** How many messages of an earlier process of this model-day follow, one per line. */
  pastMessages: number;
}

/**
 * What a tool returned; malformed is a call that named no tool, or whose arguments the tool does
 * not take.
 */
export interface ToolMessage {
  role: 'tool';
  id: string;
  content: string;
  isMalformed?: boolean | undefined;
}

export interface ToolResults {
  type: 'tool_results';
  results: ToolMessage[];
  /** To an answer that is to be a decision: what the model reads before its second chance. */
  again?: string;
  end?: Outcome;
}

/** `arguments` is the JSON text that the model wrote; the parent parses it. */
export const toolCallSchema = v.object({ id: v.string(), name: v.string(), arguments: v.string() });

/**
 * What a provider wants sent back unchanged with its own message, and refuses the next request
 * without: its thoughts, and their signatures. Fields of the message, and of each of its tool
 * calls. Only the provider reads them.
 */
export const carriedSchema = v.object({
  /**
   * Who can read it: only that server gets it back. Left out by programs from before there were
   * several dialects.
   */
  madeBy: v.optional(v.string()),
  /**
   * The provider paused this answer, which calls no tool, and continues it when it gets it back.
   */
  isPaused: v.optional(v.literal(true)),
  message: recordSchema(v.unknown()),
  calls: v.array(recordSchema(v.unknown())),
});

/** One message of an earlier process of this model-day, after the prompt. */
export interface PastMessage {
  type: 'past_message';
  message:
    | { role: 'user'; content: string }
    | ({ role: 'assistant' } & Pick<Answer, 'content' | 'toolCalls' | 'note' | 'carried'>)
    | ToolMessage;
}

const tokenCount = v.nullable(
  v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MAX_TOKENS_OF_ANSWER)),
);

/** Tokens of one answer; null where the provider does not report them. */
const usageSchema = v.object({
  promptTokens: tokenCount,
  completionTokens: tokenCount,
  /** Part of the prompt's: read from the provider's cache. */
  cachedTokens: tokenCount,
  /**
   * Part of the prompt's: written to the provider's cache, which may cost more than other input.
   */
  cacheWriteTokens: tokenCount,
  /** Part of the completion's. */
  reasoningTokens: tokenCount,
  /** In dollars, where a provider or an agent says what it has cost. */
  costUsd: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(MAX_COST_OF_ANSWER))),
});

const servedField = v.optional(v.pipe(v.string(), v.maxLength(MAX_SERVED_LENGTH)));

/** What a provider says of itself with an answer, in its own names. */
export const servedSchema = v.pipe(
  v.object({
    /** The model that answered: an alias resolves to a name with a date. */
    model: servedField,
    id: servedField,
    system_fingerprint: servedField,
    service_tier: servedField,
    /** Behind a gateway. */
    provider: servedField,
  }),
  v.title('Served'),
);

const answerSchema = v.object({
  type: v.literal('answer'),
  content: v.string(),
  toolCalls: v.pipe(v.array(toolCallSchema), v.maxLength(MAX_TOOL_CALLS)),
  /** The model's thoughts, where the provider returns them. */
  reasoning: v.nullable(v.string()),
  usage: v.nullable(usageSchema),
  /** Notes for readers of the log about this answer; null when there are none. */
  note: v.nullable(v.string()),
  carried: v.nullish(carriedSchema),
  served: v.nullish(servedSchema),
  fault: v.nullish(v.picklist(answerFaults)),
});

const reason = v.pipe(v.string(), v.maxLength(MAX_FAILURE_REASON_LENGTH));

/**
 * An unanswered request to the provider; `waitMs` is null after the last try. It may have tokens
 * all the same.
 */
const failedRequestSchema = v.object({
  type: v.literal('failed_request'),
  reason,
  waitMs: v.nullable(v.pipe(v.number(), v.minValue(0))),
  usage: v.nullish(usageSchema),
});

/** The provider refused what the service adds to requests by itself. */
const refusedAdditionsSchema = v.object({
  type: v.literal('refused_additions'),
  additions: v.pipe(v.array(v.picklist(additions)), v.minLength(1)),
  reason,
});

const promptSchema = v.object({
  type: v.literal('prompt'),
  messages: v.pipe(
    v.array(v.object({ role: v.picklist(['system', 'user']), content: v.string() })),
    v.maxLength(2),
  ),
});

/** How a model-day ended: from the child, or from its parent when the child cannot report it. */
const outcomeSchema = v.object({
  type: v.literal('outcome'),
  result: v.variant('status', [
    v.object({ status: v.literal('finished'), summary: v.string() }),
    v.object({
      status: v.literal('failed'),
      error: v.pipe(v.string(), v.maxLength(MAX_ERROR_LENGTH)),
      /** The provider refused the key, as it would tomorrow. */
      isKeyRefused: v.optional(v.literal(true)),
    }),
  ]),
});

const childMessageSchema = v.variant('type', [
  promptSchema,
  answerSchema,
  failedRequestSchema,
  refusedAdditionsSchema,
  outcomeSchema,
]);

export type TokenUsage = v.InferOutput<typeof usageSchema>;
export type ToolCall = v.InferOutput<typeof toolCallSchema>;
export type Served = v.InferOutput<typeof servedSchema>;
export type RefusedAdditions = v.InferOutput<typeof refusedAdditionsSchema>;
export type Carried = v.InferOutput<typeof carriedSchema>;
export type Answer = v.InferOutput<typeof answerSchema>;
export type FailedRequest = v.InferOutput<typeof failedRequestSchema>;
export type ChildMessage = v.InferOutput<typeof childMessageSchema>;
export type Outcome = v.InferOutput<typeof outcomeSchema>['result'];

export function encodeLine(
  message: StartMessage | PastMessage | ToolResults | ChildMessage,
): string {
  return `${JSON.stringify(message)}\n`;
}

/**
 * Parses and checks a line of a child; throws an error that says what is wrong, without repeating
 * the line.
 */
export function decodeLine(line: string): ChildMessage {
  const value = tryParse(line);
  if (value === undefined) throw new Error('the line is not JSON');
  const result = v.safeParse(childMessageSchema, value, { abortEarly: true }); // only the first error: wrong values may be many
  if (result.success) return result.output;
  const [issue] = result.issues;
  throw new Error(
    `the line does not fit the protocol (${v.getDotPath(issue) ?? 'message'}: expected ${issue.expected})`,
  );
}

const NEWLINE = 10;

/**
 * Cuts a byte stream into lines. Returns the function that receives the chunks; calls `onTooLong`
 * once when a line exceeds `MAX_LINE_BYTES`, after which nothing is read.
 */
export function createLineReader(
  onLine: (line: string) => void,
  onTooLong: () => void,
): (chunk: Buffer) => void {
  // Copied together, because a child that writes byte by byte would otherwise leave one object per
  // byte.
  let pending = Buffer.alloc(0);
  let pendingBytes = 0;
  let stopped = false;
  const keep = (part: Buffer) => {
    if (pendingBytes + part.length > pending.length) {
      const larger = Buffer.allocUnsafe(2 * (pendingBytes + part.length));
      pending.copy(larger, 0, 0, pendingBytes);
      pending = larger;
    }
    part.copy(pending, pendingBytes);
    pendingBytes += part.length;
  };
  const complete = (part: Buffer): string => {
    if (pendingBytes === 0) return part.toString();
    keep(part);
    const line = pending.toString('utf8', 0, pendingBytes);
    pending = Buffer.alloc(0);
    pendingBytes = 0;
    return line;
  };
  return (chunk) => {
    let start = 0;
    for (
      let end = chunk.indexOf(NEWLINE);
      end !== -1 && !stopped;
      end = chunk.indexOf(NEWLINE, start)
    ) {
      const line = complete(chunk.subarray(start, end));
      start = end + 1;
      onLine(line);
    }
    if (stopped || start === chunk.length) return;
    if (pendingBytes + chunk.length - start <= MAX_LINE_BYTES) return keep(chunk.subarray(start));
    stopped = true;
    pending = Buffer.alloc(0);
    onTooLong();
  };
}
