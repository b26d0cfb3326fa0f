import * as v from 'valibot';
import {
  cellsOf,
  hasMoreRows,
  jsonOf,
  resultColumns,
  resultRecords,
} from '../database/records/position-records.ts';
import {
  type Context,
  csvTable,
  formatQuery,
  type Input,
  listBody,
  type ResponseBody,
  deploymentFields,
  tableOf,
} from './handler.ts';
import { dateRangeEntries, filtersOf, checkNames } from './filters.ts';
import {
  actionEntries,
  dateText,
  holdingSchema,
  integer,
  jobFilter,
  modelFilter,
  named,
  timestampText,
  countSchema as count,
  namedResponse,
  figure,
  NAME_OF_MODEL,
  textFilter,
} from './schemas.ts';
import { type Closing, closingsOf } from '../../features/performance/holdings-queries.ts';
import { activeDays } from '../../features/performance/queries.ts';
import { collectHeldSymbols, reportClosing } from '../../features/performance/details.ts';

export const resultsQuery = v.object({
  job_id: jobFilter,
  date: textFilter(
    'One date YYYY-MM-DD; cannot be combined with start_date and end_date. Any other text matches nothing.',
  ),
  model: modelFilter,
  ...dateRangeEntries,
  ...formatQuery,
});

type ResultsQuery = v.InferOutput<typeof resultsQuery>;

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
      daily_profit: figure,
      daily_return_pct: figure,
      created_at: timestampText,
      holdings: v.array(holdingSchema),
    }),
  ),
  count: integer,
});

/**
 * With more positions and holdings their records, each with what is held, would take too long in
 * the serving thread.
 */
const MOST_ROWS = 100;

/** Whether the records are those of one model on one date, and few. */
export function areFew({ database }: Context, { query }: Input<ResultsQuery>): boolean {
  const filters = filtersOf(query);
  const { model, startDate, endDate } = filters;
  if (model === undefined || startDate === undefined || startDate !== endDate) return false;
  return !hasMoreRows(database, filters, MOST_ROWS);
}

/** Every record of the active generations that match the filters. */
export function results(
  { database }: Context,
  { query, format }: Input<ResultsQuery>,
): ResponseBody {
  const records = resultRecords(database, filtersOf(query));
  if (format === 'csv') return csvTable('results.csv', resultColumns, records.map(cellsOf));
  return listBody('results', records.map(jsonOf));
}

export const holdingsQuery = v.object({
  model: v.pipe(v.string('expected the name of a model'), v.description(NAME_OF_MODEL)),
  job_id: jobFilter,
  ...dateRangeEntries,
  ...formatQuery,
});

export const holdingsResponse = namedResponse('HoldingsResponse', {
  /** The active model-days that match the filters, by date. */
  days: v.array(
    named('DayHoldings', {
      date: dateText,
      /** Dollars, as are all values. */
      cash: v.number(),
      value: v.number(),
      /** Share of the value; null when that is 0. */
      cash_weight: figure,
      /** By value, the largest first. */
      holdings: v.array(
        named('ValuedHolding', {
          symbol: v.string(),
          quantity: count,
          /** With which the ledger valued a share at the close; null where it had no price. */
          price: figure,
          value: figure,
          weight: figure,
        }),
      ),
    }),
  ),
  count,
  /** Every symbol held at a close of these days, the one with the highest mean weight first. */
  symbols: v.array(
    named('HeldSymbol', {
      symbol: v.string(),
      /** Closes at which it was held. */
      days: count,
      first_date: dateText,
      last_date: dateText,
      /** Over all days, 0 on those without it; null where one of its weights is unknown. */
      mean_weight: figure,
      highest_weight: figure,
    }),
  ),
});

const columns = 'date cash portfolio_value cash_weight symbol quantity price value weight'.split(
  ' ',
);

/** What a model held at the close of each of its model-days, as the ledger values it. */
export function holdings(
  { database, settings }: Context,
  { query, format }: Input<v.InferOutput<typeof holdingsQuery>>,
): ResponseBody {
  const { model, ...window } = filtersOf(query);
  checkNames(database, { model, ...window });
  const days = activeDays(database, [query.model], window).get(query.model) ?? [];
  const closings = closingsOf(
    database,
    days.map(({ sessionId }) => sessionId),
  );
  if (format === 'csv') return tableOf('holdings.csv', columns, closings.flatMap(rowsOfDay));
  const symbols = collectHeldSymbols();
  const items = closings.map((closing) => {
    const day = reportClosing(closing);
    symbols.add(day);
    return JSON.stringify(day);
  });
  return listBody('days', items, () => ({
    symbols: symbols.report(),
    ...deploymentFields(settings),
  }));
}

/** A row per holding; a day without any has one row without a symbol. */
function rowsOfDay(closing: Closing) {
  const { holdings: held, value: portfolio_value, ...day } = reportClosing(closing);
  return (held.length === 0 ? [{}] : held).map((one) => ({ ...day, portfolio_value, ...one }));
}
