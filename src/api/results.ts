import * as v from 'valibot';
import { cellsOf, jsonOf, resultColumns, resultRecords } from '../database/records/results.ts';
import {
  type Context,
  csvTable,
  formatQuery,
  type Input,
  listBody,
  type ResponseBody,
} from './handler.ts';
import { dateRangeEntries, filtersOf } from './filters.ts';
import {
  actionEntries,
  dateText,
  holdingSchema,
  integer,
  jobFilter,
  modelFilter,
  named,
  timestampText,
} from './schemas.ts';

export const resultsQuery = v.object({
  job_id: jobFilter,
  date: v.optional(
    v.pipe(
      v.string(),
      v.description(
        'One date YYYY-MM-DD; cannot be combined with start_date and end_date. Any other text matches nothing.',
      ),
    ),
  ),
  model: modelFilter,
  ...dateRangeEntries,
  ...formatQuery,
});

export const resultsResponse = named('ResultsResponse', {
  results: v.array(
    named('ResultsRecord', {
      id: integer,
      job_id: v.string(),
      date: dateText,
      model: v.string(),
      ...actionEntries,
      cash: v.number(),
      portfolio_value: v.number(),
      daily_profit: v.nullable(v.number()),
      daily_return_pct: v.nullable(v.number()),
      created_at: timestampText,
      holdings: v.array(holdingSchema),
    }),
  ),
  count: integer,
});

/** Every record of the active generations that match the filters. */
export function results(
  { database }: Context,
  { query, format }: Input<v.InferOutput<typeof resultsQuery>>,
): ResponseBody {
  const records = resultRecords(database, filtersOf(query));
  if (format === 'csv') return csvTable('results.csv', resultColumns, records.map(cellsOf));
  return listBody('results', records.map(jsonOf), (count) => ({ count }));
}
