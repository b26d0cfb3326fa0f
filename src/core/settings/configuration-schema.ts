import * as v from 'valibot';
import { type CalendarDate, isCalendarDate } from '#time/calendar.ts';
import {
  entryApis,
  baselineStrategies,
  type BaselineStrategy,
  efforts,
  toolNames,
} from '#domain/vocabulary.ts';
import { SYMBOL_PATTERN } from '#domain/symbols.ts';
import { HTTP_URL, isHttpUrl } from '#network/http-values.ts';
import { asObject } from '#json/json.ts';
import { recordSchema } from '#json/records.ts';
import { type MarketTerms, marketSchema, US } from '#domain/market-rules.ts';
import { fits, findUnprintable } from '#text/text.ts';
import { defaultSymbols, nasdaq100 } from './default-symbols.ts';
import { marketTerm } from './market-term.ts';
import { MAX_PROMPT_LENGTH } from './trusted-file.ts';

/**
 * The server's configuration file: models, how they trade, and universes. Each key with its bounds.
 */

const MAX_SIGNATURE_LENGTH = 200;
const MAX_REPEATS = 100;
const MAX_UNIVERSES = 200;
export const MAX_SYMBOLS = 1_000;
/** More than any research desk holds, and far below the largest integer of 1/10000 dollar. */
const MAX_INITIAL_CASH = 1_000_000_000;
/** The unit of money. */
const MIN_INITIAL_CASH = 0.0001;

export function isSignatureLength(text: string): boolean {
  return fits(text, MAX_SIGNATURE_LENGTH);
}

/**
 * Unprintable characters (text.ts), as a range of a pattern that other languages can read too; JSON
 * excludes half characters.
 */
const UNPRINTABLE = String.raw`\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069`;

/** A model's name in every table and response, and the name of a universe: printable text. */
export const signatureSchema = v.pipe(
  v.string('expected a string'),
  v.check((text) => text.trim() !== '', 'must not be empty'),
  v.check(isSignatureLength, `must not be longer than ${MAX_SIGNATURE_LENGTH} characters`),
  v.check(
    (text) => findUnprintable(text) === null,
    ({ input }) => `must not contain ${findUnprintable(input)}`,
  ),
  v.metadata({
    maxLength: MAX_SIGNATURE_LENGTH,
    pattern: String.raw`^[^${UNPRINTABLE}\S]*[^${UNPRINTABLE}\s][^${UNPRINTABLE}]*$`,
  }),
);

/** Valibot takes an array for an object in which every field is optional. */
const notArray = v.check((value: unknown) => !Array.isArray(value), 'expected Object, got array');

const symbolSchema = v.pipe(
  v.string(),
  v.trim(),
  v.toUpperCase(),
  v.regex(SYMBOL_PATTERN, 'is not a ticker symbol'),
);

const symbolsSchema = v.pipe(
  v.array(symbolSchema),
  v.minLength(1),
  v.maxLength(MAX_SYMBOLS),
  v.transform((symbols) => [...new Set(symbols)]),
);

/** After every date. */
const FAR_END = '9999-12-31';
const dateSchema = v.custom<CalendarDate>(isCalendarDate, 'must be a date YYYY-MM-DD');

/** Who is a member of a universe, and on which mornings; both ends are included. */
export const memberSchema = v.pipe(
  v.object({
    symbol: symbolSchema,
    from: dateSchema,
    to: v.pipe(
      v.string(),
      v.transform((to) => to || FAR_END),
      dateSchema,
    ),
  }),
  v.forward(
    v.check(({ from, to }) => from <= to, 'must not be before from'),
    ['to'],
  ),
);
export type Member = v.InferOutput<typeof memberSchema>;

const memberFileSchema = v.strictObject(
  { members: v.string() },
  'is not a key of a universe, which has only "members"',
);

/**
 * Universes by name, of which a trigger picks one: symbols, or the file with its members, relative
 * to the configuration's.
 */
const universesSchema = v.pipe(
  recordSchema(
    v.lazy((own) => (asObject(own) ? memberFileSchema : symbolsSchema)),
    { key: signatureSchema },
  ),
  v.maxEntries(MAX_UNIVERSES, `must not name more than ${MAX_UNIVERSES} universes`),
);

/** Half of the traded amount; more is a typing error. */
const MAX_BASIS_POINTS = 5_000;
const MAX_COMMISSION = 1_000_000;
const MAX_ORDERS = 1_000_000;
const atMost = (most: number) => v.pipe(v.number(), v.minValue(0), v.maxValue(most));
const integer = (least: number, most: number) =>
  v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most));
const basisPoints = v.optional(atMost(MAX_BASIS_POINTS), 0);
const dollars = atMost(Infinity);
/**
 * Dollars per million tokens: a dollar a token. With `MAX_TOKENS_OF_ANSWER` it keeps every cost
 * finite.
 */
const MAX_TOKEN_PRICE = 1_000_000;
const tokenPrice = atMost(MAX_TOKEN_PRICE);
/** The words by which published configurations and `.env` files say that a URL or key is not set. */
const PLACEHOLDER = /^\s*(Optional:|your[_-])/i;

export function isPlaceholder(value: unknown): boolean {
  return typeof value === 'string' && PLACEHOLDER.test(value);
}

/** One of some words, which an error lists. */
const picklist = <const Words extends readonly string[]>(words: Words) =>
  v.picklist(words, `must be one of ${words.join(', ')}`);

const textUnlessPlaceholder = v.pipe(
  v.string(),
  v.transform((text) => (isPlaceholder(text) ? '' : text)),
);
const httpUrl = v.pipe(
  textUnlessPlaceholder,
  v.check((text) => text === '' || isHttpUrl(text), `must be ${HTTP_URL}`),
  v.check((text) => URL.parse(text)?.port !== '0', 'must not have port 0'), // Node would ask port 80
);

/** The prefix of a `basemodel` that selects a rule instead of a provider's model. */
export const BASELINE_PREFIX = 'baseline/';
/** Every `basemodel` that selects a baseline. */
export const baselines = baselineStrategies.map((strategy) => BASELINE_PREFIX + strategy);

const modelSchema = v.object({
  signature: signatureSchema,
  name: v.nullish(v.string()),
  basemodel: v.nullish(v.string()),
  enabled: v.optional(v.boolean(), false),
  openai_base_url: v.nullish(httpUrl),
  openai_api_key: v.nullish(textUnlessPlaceholder),
  /** The name of the environment variable with the key, for files that should not contain one. */
  openai_api_key_env: v.nullish(
    v.pipe(
      v.string(),
      v.regex(/^([A-Za-z_]\w*)?$/, 'must be the name of a variable, not a key'),
      v.check((name) => !(name in {}), 'is the name of no variable'),
    ),
  ),
  temperature: v.nullish(v.number()),
  top_p: v.nullish(v.number()),
  seed: v.nullish(v.pipe(v.number(), v.integer())),
  max_tokens: v.nullish(integer(1, Infinity)),
  reasoning_effort: v.nullish(picklist(efforts)),
  /**
   * The dialect in which it is asked, and whether answers come as streams (makers.ts has the
   * defaults).
   */
  api: v.nullish(picklist(entryApis)),
  stream: v.nullish(v.boolean()),
  /** The URL of an agent; and how many calls of tools over HTTP it may make on a day. */
  agent_url: v.nullish(httpUrl),
  max_tool_calls: v.nullish(integer(1, 1_000_000), 1_000),
  /** How it trades: through tools, or by one answer a day. */
  decision: v.nullish(v.picklist(['tools', 'one_answer'], 'must be tools or one_answer'), 'tools'),
  /** Further fields of the request's body, sent as they are. */
  extra_body: v.nullish(recordSchema(v.unknown())),
  price_per_million_tokens: v.nullish(
    v.object({
      input: tokenPrice,
      output: tokenPrice,
      cached_input: v.nullish(tokenPrice),
      cache_write: v.nullish(tokenPrice),
    }),
  ),
  max_cost_usd: v.nullish(dollars),
  /** How many independent runs a job makes of it. */
  repeats: v.nullish(integer(1, MAX_REPEATS), 1),
  /**
   * Instructions added to the system prompt; or the file that has them, relative to the
   * configuration's.
   */
  prompt: v.nullish(
    v.pipe(
      v.string(),
      v.check(
        (text) => fits(text, MAX_PROMPT_LENGTH),
        `must not be longer than ${MAX_PROMPT_LENGTH} characters`,
      ),
    ),
  ),
  prompt_file: v.nullish(v.string()),
  /** Whether it may keep a note from day to day. */
  notes: v.nullish(v.boolean(), false),
  /** Whether it may read documents, where there are any. */
  documents: v.nullish(v.boolean(), true),
  /** Those of the day's tools that it is offered; all without a list. */
  tools: v.nullish(
    v.pipe(
      v.array(picklist(toolNames)),
      v.includes('buy', `must include buy; the tools are ${toolNames.join(', ')}`),
    ),
  ),
  /** The last date that the model may remember from its training. */
  knowledge_cutoff: v.nullish(dateSchema),
});

/** Limits of orders; null where none is set. */
const limitsSchema = v.pipe(
  v.unknown(),
  notArray,
  v.object({
    /** The most that one symbol may be of the portfolio after a purchase. */
    max_weight: v.nullish(v.pipe(v.number(), v.gtValue(0), v.maxValue(1))),
    /** Executed or placed orders of a model-day. */
    max_orders: v.nullish(integer(1, MAX_ORDERS)),
    /** The least that cash may be of the portfolio after a purchase. */
    min_cash: v.nullish(v.pipe(v.number(), v.minValue(0), v.ltValue(1))),
  }),
  v.transform((limits) => (Object.values(limits).some((one) => one != null) ? limits : null)),
);
export type Limits = NonNullable<v.InferOutput<typeof limitsSchema>>;

const initialCash = v.pipe(v.number(), v.gtValue(0), v.maxValue(MAX_INITIAL_CASH));
const DEFAULT_INITIAL_CASH = 10_000;

const agentConfigSchema = v.object({
  max_steps: v.optional(integer(1, 1_000), 30),
  max_retries: v.optional(integer(0, 100), 3),
  base_delay: v.optional(atMost(3_600), 1),
  initial_cash: v.optional(initialCash, DEFAULT_INITIAL_CASH),
  /** Money per executed order, and basis points of the traded amount. */
  commission_per_trade: v.optional(atMost(MAX_COMMISSION), 0),
  commission_bps: basisPoints,
  /** The least of these for an order; and what a sale pays besides. */
  min_commission: v.optional(atMost(MAX_COMMISSION), 0),
  sell_tax_bps: basisPoints,
  /** How much worse than the open an order fills. */
  slippage_bps: basisPoints,
  /** What one model may cost in one job; a model's own limit takes precedence. */
  max_cost_usd: v.nullish(dollars, null),
  /** Null for those that its market has by default. */
  stock_symbols: v.nullish(symbolsSchema, null),
  /** A name, or rules of its own; null for the one that the file is for. */
  market: v.nullish(marketTerm, null),
  /** Whether dividends of what is held are paid. */
  dividends: v.optional(v.boolean(), true),
  /** Whether models see the open at which their orders fill. */
  open: v.optional(v.picklist(['shown', 'hidden'], 'must be shown or hidden'), 'shown'),
  limits: v.nullish(limitsSchema, null),
});

/** As stored with a job: with the members of its universe, and the rules of its market. */
export const storedConfigSchema = v.object({
  ...agentConfigSchema.entries,
  stock_symbols: v.nullish(symbolsSchema, nasdaq100),
  members: v.optional(v.array(memberSchema)),
  market: v.optional(marketSchema, US),
});

/** As the configuration has it: a job that was stored before may have less cash. */
const writtenConfigSchema = v.object({
  ...agentConfigSchema.entries,
  initial_cash: v.optional(
    v.pipe(initialCash, v.minValue(MIN_INITIAL_CASH, `must be at least ${MIN_INITIAL_CASH}`)),
    DEFAULT_INITIAL_CASH,
  ),
});

/** A study's own keys, each of which may be null; an absent one stays absent. */
const ownTerms: Readonly<Record<string, v.GenericSchema>> = Object.fromEntries(
  Object.entries(writtenConfigSchema.entries).map(([key, { wrapped }]) => [
    key,
    v.nullish(wrapped),
  ]),
);

const studyNameSchema = v.pipe(
  signatureSchema,
  v.regex(/^[^@,]*$/, 'must not contain @ or ,'),
  v.check((name) => !/#[1-9]\d*$/.test(name), 'must not end as the name of a repeat does'),
);

/**
 * Terms with a name: what differs from `agent_config`, and the entries that run on them; all
 * enabled ones without a list.
 */
export const studySchema = v.pipe(
  v.unknown(),
  notArray,
  v.object({
    ...ownTerms,
    stock_symbols: v.nullish(symbolsSchema),
    universe: v.nullish(signatureSchema),
    models: v.nullish(v.array(signatureSchema), []),
  }),
  v.forward(
    v.check(
      ({ universe, stock_symbols: symbols }) => universe == null || symbols == null,
      'cannot be combined with stock_symbols; keep one',
    ),
    ['universe'],
  ),
);

const MAX_STUDIES = 200;

export const configurationSchema = v.object({
  models: v.array(modelSchema),
  agent_config: v.optional(v.pipe(v.unknown(), notArray, writtenConfigSchema), {}),
  universes: v.optional(universesSchema, {}),
  studies: v.optional(
    v.pipe(
      recordSchema(studySchema, { key: studyNameSchema }),
      v.maxEntries(MAX_STUDIES, `must not name more than ${MAX_STUDIES} studies`),
    ),
    {},
  ),
});

type WrittenTerms = v.InferOutput<typeof writtenConfigSchema>;

/** With the market that terms have, or else the file is for, and the symbols that it has by default. */
export function resolveTerms(terms: WrittenTerms, ofFile: MarketTerms): AgentConfiguration {
  const market = terms.market ?? ofFile;
  return { ...terms, market, stock_symbols: [...(terms.stock_symbols ?? defaultSymbols(market))] };
}

/** The terms of a study: those of the file, with the study's own in their place; null is the default. */
export function mergeTerms(
  { written, market: ofFile }: Pick<Configuration, 'written' | 'market'>,
  study: Configuration['studies'][string],
): AgentConfiguration {
  const { market, ...all } = { ...written, ...study };
  const merged = Object.entries(all).filter(([, value]) => value !== null);
  const terms = v.parse(writtenConfigSchema, Object.fromEntries(merged));
  return resolveTerms({ ...terms, market: market ?? null }, ofFile);
}

export type ModelConfiguration = v.InferOutput<typeof modelSchema>;
/**
 * How every model of a job trades; stored with the job, so that changing the file does not affect a
 * running job.
 */
export type AgentConfiguration = v.InferOutput<typeof storedConfigSchema>;
export interface Configuration
  extends Omit<v.InferOutput<typeof configurationSchema>, 'agent_config'> {
  /** As it is written, and with what it leaves out. */
  written: WrittenTerms;
  agent_config: AgentConfiguration;
  /** Which market the file is for. */
  market: MarketTerms;
  /** The places of URLs and keys that say that they are not set. */
  placeholders: readonly string[];
  /** A warning of the keys that no program reads; empty without any. */
  unknownKeys: readonly string[];
  /** What differs from other programs that read the file, a sentence each. */
  familyNotes: readonly string[];
}

type NamedModel = Pick<ModelConfiguration, 'signature' | 'basemodel'>;

/** What a model's entry requests: the `model` of a provider's request, or a baseline. */
export function findBasemodel({ signature, basemodel }: NamedModel): string {
  return basemodel || signature;
}

/** The rule that trades for an entry, or null for a model. */
export function findBaseline(entry: NamedModel): BaselineStrategy | null {
  return (
    baselineStrategies.find((strategy) => findBasemodel(entry) === BASELINE_PREFIX + strategy) ??
    null
  );
}
