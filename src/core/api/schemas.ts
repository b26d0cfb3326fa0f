import * as v from 'valibot';
import { EARLIEST_DATE, isCalendarDate, isTooEarly } from '#time/calendar.ts';
import {
  actionTypes,
  asWarning,
  deploymentModes,
  jobStatuses,
  messageRoles,
  type Warning,
  warningCodes,
} from '#domain/vocabulary.ts';
import { normaliseSymbol, SYMBOL_TEXT } from '#domain/symbols.ts';
import { booleanSchema } from '#network/http-values.ts';
import { recordSchema } from '#json/records.ts';

/** Schemas that several endpoints share: they check requests and describe responses. */

/**
 * An object with a name in the interface description, which generated clients use as a type name.
 * What its fields mean is said in features/openapi/.
 */
export function named<const Entries extends v.ObjectEntries>(name: string, entries: Entries) {
  return v.pipe(v.object(entries), v.title(name));
}

/** The same of an object whose keys are data. */
export function namedRecord<Value extends v.GenericSchema>(name: string, value: Value) {
  return v.pipe(recordSchema(value), v.title(name));
}

/** What the interface description says of a date: its form, from `EARLIEST_DATE` on. */
export const describedAsDate = v.metadata<string, Record<string, string>>({
  format: 'date',
  pattern: '^(19|[2-9][0-9])[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$',
});

export const existsInCalendar = v.check(
  (text: string) => isCalendarDate(text),
  (issue) => invalidDate(issue.input),
);

export const dateText = v.pipe(
  v.string((issue) => invalidDate(issue.input)),
  existsInCalendar,
  describedAsDate,
);

export const nullableDate = v.nullable(dateText);

export function invalidDate(value: unknown): string {
  if (isTooEarly(value)) return `Invalid date: ${value}. The earliest is ${EARLIEST_DATE}`;
  return `Invalid date format: ${quoteValue(value).slice(0, 100)}. Expected YYYY-MM-DD`;
}

function quoteValue(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    return JSON.stringify(value) ?? 'undefined';
  } catch {
    return 'a value that is nested too deeply'; // such as a megabyte of brackets
  }
}

export const timestampText = v.pipe(v.string(), v.isoTimestamp());

export const integerSchema = v.pipe(v.number(), v.integer());

export const countSchema = v.pipe(v.number(), v.integer(), v.minValue(0));

export const jobStatusSchema = v.pipe(
  v.picklist(jobStatuses, `expected one of ${jobStatuses.join(', ')}`),
  v.title('JobStatus'),
);

export const messageRole = v.pipe(v.picklist(messageRoles), v.title('MessageRole'));

export const nullableText = v.nullable(v.string());

/** A figure; null where it is unknown or cannot be computed. */
export const figure = v.nullable(v.number());

/** Progress of a job, counted in model-days. */
export const progressSchema = named('JobProgress', {
  total_model_days: countSchema,
  completed: countSchema,
  failed: countSchema,
  pending: countSchema,
  skipped: countSchema,
  cancelled: countSchema,
});

/** Why figures are null, by name. */
export const unavailable = namedRecord('Reasons', v.string());

/** The study of a job, or of the ledger named beside it; null for the one without a name. */
export const studyField = v.nullable(v.string());

/** The course of a job. */
export const jobCourseEntries = {
  models: v.array(v.string()),
  universe: nullableText,
  study: studyField,
  created_at: timestampText,
  started_at: v.nullable(timestampText),
  completed_at: v.nullable(timestampText),
  total_duration_seconds: figure,
  error: nullableText,
  usage: named('JobUsage', {
    cost_usd: figure,
    model_days_without_cost: countSchema,
  }),
};

/** Steps, requests and tokens of model-days. */
export const usageEntries = {
  steps: countSchema,
  requests: countSchema,
  prompt_tokens: v.nullable(countSchema),
  completion_tokens: v.nullable(countSchema),
  cached_tokens: v.nullable(countSchema),
  reasoning_tokens: v.nullable(countSchema),
};

/** Warnings of a job, as sentences and as codes. */
export const warningEntries = {
  warnings: v.nullable(v.array(v.string())),
  warning_codes: v.nullable(
    v.array(v.nullable(v.pipe(v.picklist(warningCodes), v.title('WarningCode')))),
  ),
};

/** Warnings as the fields of a response. */
export function warningFields(warnings?: readonly (string | Warning)[] | null) {
  const all = warnings?.map(asWarning);
  return {
    warnings: all?.map(({ message }) => message) ?? null,
    warning_codes: all?.map(({ code }) => code) ?? null,
  };
}

/** An action of a position. */
export const actionEntries = {
  action_id: integerSchema,
  action_type: v.nullable(v.pipe(v.picklist(actionTypes), v.title('ActionType'))),
  symbol: nullableText,
  amount: v.nullable(integerSchema),
  price: figure,
};

/** Shares of one symbol. */
export const holdingSchema = named('Holding', { symbol: v.string(), quantity: v.number() });

export const deploymentEntries = {
  deployment_mode: v.pipe(v.picklist([...deploymentModes, 'UNKNOWN']), v.title('DeploymentMode')),
  is_dev_mode: v.boolean(),
  preserve_dev_data: v.nullable(v.boolean()),
};

/** The body of a response, with the fields that most responses have. */
export function namedResponse<const Entries extends v.ObjectEntries>(
  name: string,
  entries: Entries,
) {
  return named(name, { ...entries, ...deploymentEntries });
}

export const errorSchema = namedResponse('ErrorResponse', {
  detail: v.string(),
  code: v.optional(v.literal('nothing_to_resume')),
});
export const bareErrorSchema = named('BareErrorResponse', { detail: v.string() });

/** A boolean in a query; false if absent. */
export function flagFilter(description: string) {
  return v.optional(
    v.pipe(booleanSchema('expected true or false'), v.description(description)),
    'false',
  );
}

/** A text in a query. */
export function textFilter(description: string) {
  return v.optional(v.pipe(v.string(), v.description(description)));
}

/** One of some words in a query; the first if absent. */
export function wordFilter<const First extends string, const Others extends readonly string[]>(
  words: readonly [First, ...Others],
  description: string,
) {
  const expected = `expected ${words.join(', ').replace(/, (\w+)$/, ' or $1')}`;
  return v.optional(v.pipe(v.picklist(words, expected), v.description(description)), words[0]);
}

/** Filters that several endpoints have. */
export const jobFilter = textFilter('The job_id of a job.');
export const MODEL_NAME =
  'The name of a model: a signature, or that of a repeat such as `gpt-5#2`.';
export const modelFilter = textFilter(MODEL_NAME);

export const studyFilter = textFilter(
  'Only this study; empty: the one without a name. With it, names without `@` are of this study.',
);

/** Names separated by commas, in a query. */
export function namesFilter(description: string) {
  const names = v.regex(/^[^,]+(,[^,]+)*$/, 'expected names separated by commas');
  return v.optional(
    v.pipe(
      v.string(),
      names,
      v.description(`${description} A name that contains a comma cannot be listed.`),
    ),
  );
}

/** Whether days that a model may remember count, in a query. */
export function daysFilter(models: string) {
  return wordFilter(
    ['all', 'clean'],
    `All days, or only those after the latest knowledge cutoff of ${models}.`,
  );
}

/** A whole number from 1 on in a query. */
export function wholeNumberSchema(most: number, message: string) {
  return v.pipe(
    v.string(),
    v.regex(/^\d{1,15}$/, message),
    v.transform(Number),
    v.number(),
    v.integer(),
    v.minValue(1, message),
    v.maxValue(most, message),
  );
}

/** How many items a page has at most, in a query. */
export function limitFilter(most: number, usual: number, items = 'items') {
  const number = wholeNumberSchema(most, `expected a whole number from 1 to ${most}`);
  return v.optional(
    v.pipe(number, v.description(`The maximum number of ${items}.`)),
    String(usual),
  );
}

/** A ticker symbol in a query, in either case. */
export function symbolFilter(description: string, message: string) {
  return v.optional(
    v.pipe(
      v.string(),
      v.regex(SYMBOL_TEXT, message),
      v.description(description),
      v.transform((text) => normaliseSymbol(text) ?? text),
    ),
  );
}
