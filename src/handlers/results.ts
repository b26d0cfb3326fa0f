import * as v from 'valibot';
import { resultColumns, resultRecords, resultRows } from '../database/results.ts';
import { actionTypes } from '../domain.ts';
import { csvTable, formatQuery } from './csv.ts';
import type { Answer, Context, Input } from './handler.ts';
import { dateRangeEntries, datesOf } from './date-filters.ts';
import { dateText, timestampText } from './schemas.ts';

export const resultsQuery = v.object({
  job_id: v.optional(v.string()),
  date: v.optional(v.string()),
  model: v.optional(v.string()),
  ...dateRangeEntries,
  ...formatQuery,
});

export const resultsResponse = v.object({
  results: v.array(
    v.object({
      id: v.pipe(v.number(), v.integer()),
      job_id: v.string(),
      date: dateText,
      model: v.string(),
      action_id: v.pipe(v.number(), v.integer()),
      action_type: v.nullable(v.picklist(actionTypes)),
      symbol: v.nullable(v.string()),
      amount: v.nullable(v.pipe(v.number(), v.integer())),
      price: v.nullable(v.number()),
      cash: v.number(),
      portfolio_value: v.number(),
      daily_profit: v.nullable(v.number()),
      daily_return_pct: v.nullable(v.number()),
      created_at: timestampText,
      holdings: v.array(v.object({ symbol: v.string(), quantity: v.number() })),
    }),
  ),
  count: v.pipe(v.number(), v.integer()),
});

/** Every record of the active generations that the filters let through, piece by piece. */
export function results({ database }: Context, { query, format }: Input<v.InferOutput<typeof resultsQuery>>): Answer {
  const filters = { jobId: query.job_id, model: query.model, ...datesOf(query) };
  if (format === 'csv') return csvTable('results.csv', resultColumns, resultRows(database, filters));
  return stream(resultRecords(database, filters));
}

function* stream(records: Iterable<string | null>): Generator<string> {
  let count = 0;
  yield '{"results":[';
  for (const record of records) {
    if (record === null) yield '';
    else yield count++ === 0 ? record : `,${record}`;
  }
  yield `],"count":${count}}`;
}
