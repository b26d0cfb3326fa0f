import * as v from 'valibot';
import { isCalendarDate } from '../basics/calendar.ts';
import { apiDialects, baselineStrategies } from '../basics/domain.ts';
import { tryParse } from '../basics/json.ts';

/**
 * Every message between the parent and the child of a model-day: JSON lines over the child's stdin
 * and stdout. The child gets one `start` and as many `past_message`s as that announces, sends its
 * `prompt`, then one `answer` per step (and a `failed_request` for every try without one), gets
 * `tool_results` for each answer that calls tools or that its provider paused, before it asks again,
 * and ends with one `outcome`. Both ends check every line. Amounts of money are dollars.
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
/** Why a request to a provider failed, in UTF-16 units; the parent logs it. */
export const MAX_REASON_LENGTH = 2_000;
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
] as const;
export type Addition = (typeof additions)[number];

const date = v.custom<string>(isCalendarDate, 'expected a date');
const dollars = v.number();

/** A symbol on the morning of the session date, in dollars; null where unknown. */
interface BriefQuote {
  symbol: string;
  previousClose: number | null;
  open: number | null;
}

/**
 * Written by hand, because a brief has hundreds of them and each child checks them before its code
 * is optimised.
 */
function isQuoteList(value: unknown): boolean {
  const isPrice = (price: unknown) => price === null || typeof price === 'number';
  return (
    Array.isArray(value) &&
    value.every(
      (quote) =>
        typeof quote?.symbol === 'string' && isPrice(quote.previousClose) && isPrice(quote.open),
    )
  );
}

/** What the model knows on the morning of the session date. */
const briefSchema = v.object({
  date,
  cash: dollars,
  portfolioValue: dollars,
  holdings: v.array(v.object({ symbol: v.string(), quantity: v.number(), price: dollars })),
  /**
   * Dividends that were paid this morning on what was held; left out when there are none. Cash per
   * share has up to six decimals.
   */
  dividends: v.optional(
    v.array(
      v.object({
        symbol: v.string(),
        exDate: date,
        shares: v.number(),
        cashPerShare: dollars,
        cash: dollars,
      }),
    ),
  ),
  quotes: v.custom<BriefQuote[]>(isQuoteList, 'expected quotes'),
  /** Trading costs; null when there are none. */
  costs: v.nullable(
    v.object({ commissionPerTrade: dollars, commissionBps: v.number(), slippageBps: v.number() }),
  ),
  /**
   * The model's note from an earlier day; null without one, left out when it may not keep notes.
   */
  note: v.optional(v.nullable(v.string())),
});

const toolSchema = v.object({
  name: v.string(),
  description: v.string(),
  parameters: v.record(v.string(), v.unknown()),
});

const milliseconds = v.pipe(v.number(), v.minValue(0));
const count = v.pipe(v.number(), v.integer(), v.minValue(0));

/** A model's endpoint, with its time limit and retries. */
const endpointSchema = v.object({
  kind: v.literal('provider'),
  /** The dialect in which it is asked. */
  api: v.picklist(apiDialects),
  /** Without a path: `https://host/v1`. */
  baseUrl: v.string(),
  /** Null for a server that needs no key. */
  apiKey: v.nullable(v.string()),
  /** What else in the URL and the parameters is a secret: no error and no answer repeats it. */
  secrets: v.optional(v.array(v.string())),
  /**
   * What the entry sets: `model`, and other fields of the request's body in the dialect's names.
   */
  parameters: v.record(v.string(), v.unknown()),
  /** Whether answers come as streams: the entry says so, the service adds it by itself, or not. */
  stream: v.picklist(['set', 'added', 'off']),
  /** What shares a prompt at the provider; null where it knows no such field. */
  cacheKey: v.nullable(v.string()),
  /** What the service would add by itself, but the provider has refused. */
  leftOut: v.array(v.picklist(additions)),
  requestTimeoutMs: milliseconds,
  /** Retries after the first try. */
  maxRetries: count,
  baseDelayMs: milliseconds,
});

/** What no error and no answer of a model repeats. */
export function secretsOf(model: Start['model']): (string | null)[] {
  return model.kind === 'provider' ? [model.apiKey, ...(model.secrets ?? [])] : [];
}

/** The source of the child's answers. */
const modelSchema = v.variant('kind', [
  v.object({ kind: v.literal('simulated') }),
  v.object({ kind: v.literal('baseline'), strategy: v.picklist(baselineStrategies) }),
  endpointSchema,
]);

export const startSchema = v.object({
  type: v.literal('start'),
  /** The name of the run. */
  signature: v.string(),
  /** The signature of its entry. */
  family: v.string(),
  model: modelSchema,
  maxSteps: v.pipe(v.number(), v.integer(), v.minValue(1)),
  /** Instructions of its entry for the system prompt. */
  prompt: v.nullable(v.string()),
  brief: briefSchema,
  tools: v.array(toolSchema),
  /** How many messages of an earlier process of this model-day follow, one per line. */
  pastMessages: count,
});

/**
 * What a tool returned; malformed is a call that named no tool, or whose arguments the tool does
 * not take.
 */
const toolResult = v.object({
  id: v.string(),
  content: v.string(),
  isMalformed: v.optional(v.boolean()),
});

export const toolResultsSchema = v.object({
  type: v.literal('tool_results'),
  results: v.array(toolResult),
});

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
  message: v.record(v.string(), v.unknown()),
  calls: v.array(v.record(v.string(), v.unknown())),
});

/** One message of an earlier process of this model-day, after the prompt. */
export const pastMessageSchema = v.object({
  type: v.literal('past_message'),
  message: v.variant('role', [
    v.object({
      role: v.literal('assistant'),
      content: v.string(),
      toolCalls: v.array(toolCallSchema),
      note: v.nullable(v.string()),
      carried: v.nullish(carriedSchema),
    }),
    v.object({ role: v.literal('tool'), ...toolResult.entries }),
  ]),
});

const tokenCount = v.nullable(v.pipe(count, v.maxValue(MAX_TOKENS_OF_ANSWER)));

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
});

const servedField = v.optional(v.pipe(v.string(), v.maxLength(MAX_SERVED_LENGTH)));

/** What a provider says of itself with an answer, in its own names. */
export const servedSchema = v.pipe(
  v.object({
    /** The model that answered: an alias resolves to a name with a date. */
    model: servedField,
    /** The response's. */
    id: servedField,
    system_fingerprint: servedField,
    service_tier: servedField,
    /** Behind a gateway. */
    provider: servedField,
  }),
  v.title('Served'),
);

export const answerSchema = v.object({
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
});

const reason = v.pipe(v.string(), v.maxLength(MAX_REASON_LENGTH));

/**
 * An unanswered request to the provider; `waitMs` is null after the last try. It may have tokens
 * all the same.
 */
const failedRequestSchema = v.object({
  type: v.literal('failed_request'),
  reason,
  waitMs: v.nullable(milliseconds),
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

/** How a model-day ended: from the child, or from the launcher when the child cannot report it. */
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

export const childMessageSchema = v.variant('type', [
  promptSchema,
  answerSchema,
  failedRequestSchema,
  refusedAdditionsSchema,
  outcomeSchema,
]);

export type Brief = v.InferOutput<typeof briefSchema>;
export type ToolDescription = v.InferOutput<typeof toolSchema>;
export type Endpoint = v.InferOutput<typeof endpointSchema>;
export type TokenUsage = v.InferOutput<typeof usageSchema>;
export type Start = v.InferOutput<typeof startSchema>;
export type PastMessage = v.InferOutput<typeof pastMessageSchema>;
export type ToolCall = v.InferOutput<typeof toolCallSchema>;
export type Served = v.InferOutput<typeof servedSchema>;
export type RefusedAdditions = v.InferOutput<typeof refusedAdditionsSchema>;
export type Carried = v.InferOutput<typeof carriedSchema>;
export type Answer = v.InferOutput<typeof answerSchema>;
export type ToolResults = v.InferOutput<typeof toolResultsSchema>;
export type FailedRequest = v.InferOutput<typeof failedRequestSchema>;
export type ChildMessage = v.InferOutput<typeof childMessageSchema>;
export type Outcome = v.InferOutput<typeof outcomeSchema>['result'];

export function encodeLine(message: Start | PastMessage | ToolResults | ChildMessage): string {
  return `${JSON.stringify(message)}\n`;
}

/**
 * Parses and checks one line; throws an error that says what is wrong, without repeating the line.
 */
export function decodeLine<Schema extends v.GenericSchema>(
  schema: Schema,
  line: string,
): v.InferOutput<Schema> {
  const value = tryParse(line);
  if (value === undefined) throw new Error('the line is not JSON');
  const result = v.safeParse(schema, value, { abortEarly: true }); // only the first error: wrong values may be many
  if (result.success) return result.output;
  const [issue] = result.issues;
  throw new Error(
    `the line does not fit the protocol (${v.getDotPath(issue) ?? 'message'}: expected ${issue.expected})`,
  );
}
