import * as v from 'valibot';
import {
  countResults,
  createCellReader,
  hasMoreRows,
  recordJson,
  resultColumns,
  resultRecords,
} from '#database/records/position-records.ts';
import { type Context, csvTable, formatQuery, type Input, listBody, until } from './handler.ts';
import { dateRangeEntries, parseFilters, sessionFilters } from './filters.ts';
import {
  actionEntries,
  dateText,
  holdingSchema,
  integerSchema,
  jobFilter,
  modelFilter,
  studyField,
  studyFilter,
  named,
  timestampText,
  figure,
  textFilter,
} from './schemas.ts';
import { BUSY, route } from './route.ts';

const resultsQuery = v.object({
  job_id: jobFilter,
  date: textFilter(
    'One date YYYY-MM-DD; cannot be combined with start_date and end_date. Any other text matches nothing.',
  ),
  model: modelFilter,
  study: studyFilter,
  ...dateRangeEntries,
  ...formatQuery,
});

type ResultsQuery = v.InferOutput<typeof resultsQuery>;

export const resultsResponse = named('ResultsResponse', {
  results: v.array(
    named('ResultsRecord', {
      id: integerSchema,
      job_id: v.string(),
      date: dateText,
      model: v.string(),
      ...actionEntries,
      cash: v.number(),
      portfolio_value: v.number(),
      daily_profit: figure,
      daily_return_pct: figure,
      created_at: timestampText,
      holdings: v.array(holdingSchema),
      study: studyField,
    }),
  ),
  count: integerSchema,
});

/**
 * With more positions and holdings their records, each with what is held, would take too long in
 * the serving thread.
 */
const MAX_SHORT_ROWS = 100;

/** Whether the records are those of one model on one date, and few. */
export function areResultsFew(context: Context, { query }: Input<ResultsQuery>): boolean {
  const { model, startDate, endDate } = parseFilters(query);
  if (model === undefined || startDate === undefined || startDate !== endDate) return false;
  return !hasMoreRows(context.database, sessionFilters(context, query), MAX_SHORT_ROWS);
}

export const resultsRoute = route({
  method: 'GET',
  path: '/results',
  tool: 'results',
  tag: 'results',
  summary: 'Every position: cash, holdings and value after each action, by date, model and action.',
  query: resultsQuery,
  response: resultsResponse,
  errors: BUSY,
  bareErrors: true,
  isShort: areResultsFew,
  hasTable: true,
  list: 'results',
  rest: 'ask for fewer by model, job_id, date, or start_date and end_date',
  count: (context, { query }) => countResults(context.database, sessionFilters(context, query)),
  handle(context, { query, format, isFull }) {
    const records = resultRecords(context.database, sessionFilters(context, query));
    if (format === 'csv') {
      const cells = createCellReader(context.database);
      return csvTable('results.csv', resultColumns, records.map(cells));
    }
    return listBody(null, 'results', until(records, isFull).map(recordJson));
  },
});
