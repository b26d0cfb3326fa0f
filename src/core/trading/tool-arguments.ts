import * as v from 'valibot';
import { type CalendarDate, isCalendarDate } from '#time/calendar.ts';
import { normaliseSymbol, SYMBOL_TEXT } from '#domain/symbols.ts';
import type { toolNames } from '#domain/vocabulary.ts';
import { isWithin } from '#json/json.ts';
import { recordSchema } from '#json/records.ts';
import { cleanText, fits } from '#text/text.ts';

/** What a model may pass to a tool, and the sentences it reads when it passes anything else. */

/** The length at which a value of the model's is cut when a refusal repeats it. */
const MAX_SHOWN_LENGTH = 80;
const MAX_HISTORY_DAYS = 100;
const MAX_QUERY_LENGTH = 400;
const MAX_NOTE_LENGTH = 4_000;
export const MAX_LISTED_DOCUMENTS = 20;
const MAX_ID_LENGTH = 500;
const MAX_OFFSET = 1_048_576;

// What stands before a transformation describes what callers may send (`TradingDecision` of the
// interface description), what stands after the last schema describes what models should.
const symbolMessage = 'must be a ticker symbol';
const symbolDescription = v.description<string, string>('Ticker symbol, for example AAPL');
const symbol = v.pipe(
  v.string(symbolMessage),
  v.regex(SYMBOL_TEXT, symbolMessage),
  symbolDescription,
  v.transform(normaliseSymbol),
  v.string(symbolMessage),
  symbolDescription,
);

/** A whole number; also as text, because models write numbers that way. */
function wholeNumberArgument(most: number, description: string, least = 1) {
  const message = (issue: v.BaseIssue<unknown>) =>
    `must be a whole number from ${least} to ${most}, got ${quoteArgument(issue.input)}`;
  const whole = v.pipe(
    v.number(),
    v.integer(message),
    v.minValue(least, message),
    v.maxValue(most, message),
    v.description(description),
  );
  return v.pipe(
    v.union([whole, v.pipe(v.string(), v.regex(/^\d{1,16}$/), v.transform(Number))], message),
    whole,
  );
}

const dateArgument = (otherwise: string) =>
  v.pipe(
    v.custom<CalendarDate>(
      isCalendarDate,
      (issue) => `must be a date YYYY-MM-DD, got ${quoteArgument(issue.input)}`,
    ),
    v.metadata({ type: 'string', format: 'date', description: `YYYY-MM-DD; ${otherwise}` }),
  );

const queryMessage = `must be text of 1 to ${MAX_QUERY_LENGTH} characters`;
const query = v.pipe(
  v.string(queryMessage),
  v.transform(cleanText),
  v.string(),
  v.minLength(1, queryMessage),
  v.maxLength(MAX_QUERY_LENGTH, queryMessage),
  v.description('Search words'),
);

const textArgument = (description: string, most: number) => {
  const message = `must be text of at most ${most} characters`;
  return v.pipe(
    v.string(message),
    v.check((text) => fits(text, most), message),
    v.metadata({ maxLength: most }),
    v.description(description),
  );
};

const noteMessage = `must be text of at most ${MAX_NOTE_LENGTH} characters`;
/** Characters are counted as JSON Schema does: an emoji is one. Half of one cannot be stored. */
const note = v.pipe(
  v.string(noteMessage),
  v.transform((text) => text.toWellFormed()),
  v.string(),
  v.check((text) => fits(text, MAX_NOTE_LENGTH), noteMessage),
  v.metadata({ maxLength: MAX_NOTE_LENGTH, description: 'The whole note; empty text removes it' }),
);

const sumWeights = (weights: Record<string, number>) =>
  Object.values(weights).reduce((sum, weight) => sum + weight, 0);
const fractionMessage = (issue: v.BaseIssue<unknown>) =>
  `must be a number from 0 to 1, got ${quoteArgument(issue.input)}`;
export const fraction = v.pipe(
  v.number(fractionMessage),
  v.minValue(0, fractionMessage),
  v.maxValue(1, fractionMessage),
);
/** How far arithmetic of callers may take weights from 0, and their sum from 1. */
const NEAR_ZERO = 1e-9;
const NEAR_ONE = 1 + 1e-6 + NEAR_ZERO;
const weight = v.pipe(
  v.number(fractionMessage),
  v.metadata({ exclusiveMinimum: -NEAR_ZERO, maximum: NEAR_ONE }),
  v.transform((share) => (share < 0 && share > -NEAR_ZERO ? 0 : share)),
  v.transform((share) => (share > 1 && share <= NEAR_ONE ? 1 : share)),
  fraction,
);
const weightsMessage = 'must be an object with a share of the portfolio for each symbol';
/**
 * Target shares of the portfolio's value. A sum slightly above 1 is divided by itself.
 */
export const weightsSchema = v.pipe(
  recordSchema(weight, { message: weightsMessage }),
  v.check(
    (weights) => sumWeights(weights) <= NEAR_ONE,
    ({ input }) => `must add up to at most 1, and add up to ${sumWeights(input)}`,
  ),
  v.description('Share of the portfolio, 0 to 1, by symbol, for example {"AAPL": 0.4}'),
);

const expression = v.pipe(
  v.string('must be text'),
  v.description('For example floor(10000 / 245.27)'),
);
/** What is bought or sold. */
export const orderEntries = {
  symbol,
  amount: wholeNumberArgument(Number.MAX_SAFE_INTEGER, 'Whole shares'),
};
const order = v.strictObject(orderEntries);

/**
 * The arguments of each tool by its name: they are checked from here, and described to the model
 * (tool-parameters.ts).
 */
export const toolArguments = {
  buy: order,
  sell: order,
  rebalance: v.strictObject({
    weights: weightsSchema,
    sell_rest: v.optional(
      v.pipe(
        v.boolean('must be true or false'),
        v.description('Whether to sell what is not named'),
      ),
    ),
  }),
  get_price: v.strictObject({ symbol, date: v.nullish(dateArgument('today if omitted')) }),
  get_price_history: v.strictObject({
    symbol,
    days: wholeNumberArgument(MAX_HISTORY_DAYS, 'How many bars'),
  }),
  get_portfolio: v.strictObject({}),
  calculate: v.strictObject({ expression }),
  search_news: v.strictObject({ query }),
  list_documents: v.strictObject({
    symbol: v.nullish(symbol),
    kind: v.nullish(textArgument('Only this kind', MAX_ID_LENGTH)),
    since: v.nullish(dateArgument('from the first if omitted')),
    query: v.nullish(textArgument('Words that must all be in it', MAX_QUERY_LENGTH)),
    limit: v.nullish(
      wholeNumberArgument(
        MAX_LISTED_DOCUMENTS,
        `At most so many; ${MAX_LISTED_DOCUMENTS} if omitted`,
      ),
    ),
  }),
  read_document: v.strictObject({
    id: textArgument('As list_documents has it', MAX_ID_LENGTH),
    offset: v.nullish(wholeNumberArgument(MAX_OFFSET, 'The first character; 0 if omitted', 0)),
  }),
  write_note: v.strictObject({ text: note }),
};

export type ToolName = (typeof toolNames)[number];
export type ToolArguments<Name extends ToolName> = v.InferOutput<(typeof toolArguments)[Name]>;

export function describeIssue(tool: string, issue: v.BaseIssue<unknown>): string {
  const path = v.getDotPath(issue);
  if (path === null) return `The arguments of ${tool} must be an object.`;
  if (issue.type !== 'strict_object') return `${tool}: ${path} ${issue.message}.`;
  return issue.expected === 'never'
    ? `${tool} takes no argument ${quoteArgument(path)}.`
    : `${tool}: ${path} is missing.`;
}

/** A value of the model's as part of a sentence: bounded, and with control characters escaped. */
export function quoteArgument(value: unknown): string {
  if (!isWithin(value, MAX_SHOWN_LENGTH)) return 'deeply nested JSON'; // it may be too deep to write
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= MAX_SHOWN_LENGTH ? text : `${text.slice(0, MAX_SHOWN_LENGTH)}…`;
}
