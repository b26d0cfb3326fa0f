import * as v from 'valibot';
import { activeSessionIds, resultColumns, resultRecords, resultRows } from '../database/results.ts';
import { actionTypes } from '../domain.ts';
import { csvTable, formatQuery } from './csv.ts';
import type { Answer, Context, Input } from './handler.ts';
import { dateText, timestampText } from './schemas.ts';

export const resultsQuery = v.object({
  job_id: v.optional(v.string()),
  date: v.optional(v.string()),
  model: v.optional(v.string()),
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
  const sessionIds = activeSessionIds(database, { jobId: query.job_id, date: query.date, model: query.model });
  if (format === 'csv') return csvTable('results.csv', resultColumns, resultRows(database, sessionIds));
  return stream(resultRecords(database, sessionIds));
}

function* stream(chunks: Iterable<{ json: string; count: number }>): Generator<string> {
  let total = 0;
  yield '{"results":[';
  for (const { json, count } of chunks) {
    if (count === 0) continue;
    yield total === 0 ? json.slice(1, -1) : `,${json.slice(1, -1)}`;
    total += count;
  }
  yield `],"count":${total}}`;
}
