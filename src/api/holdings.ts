import * as v from 'valibot';
import type { Cell } from '../basics/csv.ts';
import { activeSessions, type SessionFilters } from '../database/session-filters.ts';
import type { Database, Reader } from '../database/database.ts';
import { type Closing, closingsOf } from '../database/records/holdings.ts';
import { collectHeldSymbols, reportClosing } from '../performance/symbols.ts';
import {
  type Context,
  csvTable,
  deploymentFields,
  formatQuery,
  type Input,
  listBody,
  type ResponseBody,
} from './handler.ts';
import { checkJob, dateRangeEntries, filtersOf } from './filters.ts';
import {
  countSchema as count,
  dateText,
  deploymentEntries,
  figure,
  jobFilter,
  named,
} from './schemas.ts';

export const holdingsQuery = v.object({
  model: v.pipe(
    v.string('expected the name of a model'),
    v.description('The name of a model: a signature, or that of a repeat such as `gpt-5#2`.'),
  ),
  job_id: jobFilter,
  ...dateRangeEntries,
  ...formatQuery,
});

export const holdingsResponse = named('HoldingsResponse', {
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
  ...deploymentEntries,
});

const columns = [
  'date',
  'cash',
  'portfolio_value',
  'cash_weight',
  'symbol',
  'quantity',
  'price',
  'value',
  'weight',
];

/** What a model held at the close of each of its model-days, as the ledger values it. */
export function holdings(
  { database, settings }: Context,
  { query, format }: Input<v.InferOutput<typeof holdingsQuery>>,
): ResponseBody {
  const filters = filtersOf(query);
  checkJob(database, filters);
  if (format === 'csv') return csvTable('holdings.csv', columns, rowsOf(database, filters));
  const symbols = collectHeldSymbols();
  const items = function* (): Generator<string> {
    for (const closing of closings(database, filters)) {
      const day = reportClosing(closing);
      symbols.add(day);
      yield JSON.stringify(day);
    }
  };
  return listBody('days', items(), (days) => ({
    count: days,
    symbols: symbols.report(),
    ...deploymentFields(settings),
  }));
}

function closings(database: Reader, filters: SessionFilters): Iterable<Closing> {
  const sessions = [...activeSessions(database, filters)];
  return closingsOf(
    database,
    sessions.map(({ sessionId }) => sessionId),
  );
}

/** A row per holding; a day without any has one row without a symbol. */
function* rowsOf(database: Database, filters: ReturnType<typeof filtersOf>): Generator<Cell[]> {
  for (const closing of closings(database, filters)) yield* rowsOfDay(closing);
}

function rowsOfDay(closing: Closing): Cell[][] {
  const { date, cash, value, cash_weight: cashWeight, holdings: held } = reportClosing(closing);
  const day = [date, cash, value, cashWeight];
  if (held.length === 0) return [[...day, null, null, null, null, null]];
  return held.map((one) => [...day, one.symbol, one.quantity, one.price, one.value, one.weight]);
}
