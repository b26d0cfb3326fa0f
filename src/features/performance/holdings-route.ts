import * as v from 'valibot';
import { checkNames, dateRangeEntries, parseFilters } from '#api/filters.ts';
import { formatQuery, listBody, objectTable } from '#api/handler.ts';
import { pickIds } from '#database/session-filters.ts';
import { ledgersByName } from '#database/records/model-records.ts';
import { resolveStudy } from '#api/studies.ts';
import { MODEL_DAY_ERRORS, route } from '#api/route.ts';
import {
  countSchema as count,
  dateText,
  figure,
  jobFilter,
  MODEL_NAME,
  named,
  namedResponse,
  studyField,
  studyFilter,
} from '#api/schemas.ts';
import { collectHeldSymbols, reportClosing } from './details.ts';
import { type Closing, readClosings } from './holdings-queries.ts';
import { activeDays } from './queries.ts';

const holdingsQuery = v.object({
  model: v.pipe(v.string('expected the name of a model'), v.description(MODEL_NAME)),
  study: studyFilter,
  job_id: jobFilter,
  ...dateRangeEntries,
  ...formatQuery,
});

export const holdingsResponse = namedResponse('HoldingsResponse', {
  days: v.array(
    named('DayHoldings', {
      date: dateText,
      cash: v.number(),
      value: v.number(),
      cash_weight: figure,
      holdings: v.array(
        named('ValuedHolding', {
          symbol: v.string(),
          quantity: count,
          price: figure,
          value: figure,
          weight: figure,
        }),
      ),
    }),
  ),
  count,
  symbols: v.array(
    named('HeldSymbol', {
      symbol: v.string(),
      days: count,
      first_date: dateText,
      last_date: dateText,
      mean_weight: figure,
      highest_weight: figure,
    }),
  ),
  study: studyField,
});

const columns =
  'date cash portfolio_value cash_weight symbol quantity price value weight currency study'.split(
    ' ',
  );

/** A row per holding; a day without any has one row without a symbol. */
function holdingRows(closing: Closing) {
  const { holdings: held, value: portfolio_value, ...day } = reportClosing(closing);
  return (held.length === 0 ? [{}] : held).map((one) => ({ ...day, portfolio_value, ...one }));
}

export const holdingsRoute = route({
  method: 'GET',
  path: '/holdings',
  tag: 'results',
  summary: 'What a model held at the close of each day: shares, prices, values and weights.',
  query: holdingsQuery,
  response: holdingsResponse,
  errors: MODEL_DAY_ERRORS,
  hasTable: true,
  isKept: true,
  handle(context, { query: given, format }) {
    const { database, settings } = context;
    const query = resolveStudy(context, given);
    const { model, ...window } = parseFilters(query);
    checkNames(database, { model, ...window });
    const ledger = ledgersByName(database).get(query.model);
    const days = activeDays(database, [query.model], window).get(query.model) ?? [];
    const closings = readClosings(database, pickIds(days));
    if (format === 'csv')
      return objectTable(
        'holdings.csv',
        columns,
        closings.flatMap(holdingRows).map((row) => ({ ...row, ...ledger })),
      );
    const symbols = collectHeldSymbols();
    const items = closings.map((closing) => {
      const day = reportClosing(closing);
      symbols.add(day);
      return JSON.stringify(day);
    });
    return listBody(settings, 'days', items, () => ({
      symbols: symbols.report(),
      study: ledger?.study ?? null,
    }));
  },
});
