import { csvRows } from '#text/csv.ts';
import { isPublished } from '../address.ts';
import { get, fetchText } from '../api.ts';
import { type Child, h } from '../element.ts';
import { pageQuery } from '../filters.ts';
import type { Details, ModelReport, Performance } from '../../responses.ts';

/** All that the page shows of a model's days. */
export interface ModelData {
  report: ModelReport;
  details: Details;
  performance: Performance;
  trades: Trade[];
}

/**
 * Asks for a model's days that the filters of this page choose. By entry a model means all its
 * runs; of several there are only the figures, over the days that they share. Of a model that has
 * none of the days there is the reason; null where the service gives none.
 */
export async function loadModelData(
  model: string,
  by: 'entry' | 'run',
  signal: AbortSignal,
): Promise<ModelData | Pick<ModelData, 'performance'> | { reason: string | null }> {
  const { models: known } = await get('/models', '', signal);
  const isRun = (own: (typeof known)[number]) =>
    own.last_job !== null && [own.signature, own.family].includes(model);
  if (!isPublished() && !known.some(isRun)) return { reason: null }; // its figures would be a 422
  const actions = pageQuery({ model, table: 'actions', format: 'csv' });
  const [performance, csv] = await Promise.all([
    get('/performance', pageQuery({ model, by, details: 'true' }), signal),
    fetchText(`/performance${actions}`, { signal }),
  ]);
  const { models } = performance;
  if (models.length > 1) return { performance };
  const report = models.find((one) => one.model === model);
  if (report?.details == null) {
    const unclean = performance.without_clean_days.find((one) => one.model === model);
    return { reason: unclean?.reason ?? null };
  }
  return { report, details: report.details, performance, trades: parseTrades(csv) };
}

/** An executed order, a split, a dividend or an exchange, as the table of actions of `/performance` has it. */
export interface Trade {
  date: string;
  side: string;
  symbol: string;
  /** In shares; of a split those that it added (negative: removed), of an exchange those that left. */
  amount: number;
  /** Null for a split, and for what an exchange brought, of which none is known. */
  price: number | null;
  /** Cash after the trade. */
  cash: number;
  /** Change of the cash: negative for a purchase. */
  cashChange: number;
}

/** The trades in a table of actions, in its order: by date. */
export function parseTrades(csv: string): Trade[] {
  return csvRows(csv).map(
    ({ date = '', side = '', symbol = '', amount, price, cash, cash_change: cashChange }) => ({
      date,
      side,
      symbol,
      amount: Number(amount),
      price: price === undefined || price === '' ? null : Number(price),
      cash: Number(cash),
      cashChange: Number(cashChange),
    }),
  );
}

const EXCHANGES = {
  exchange: 'Exchange: so many shares left, and each paid the price. ',
  received: 'Received: whole shares; a fraction was paid at the price.',
};

/** A sentence for each kind of action of an exchange that a table has. */
export function exchangeNote(kinds: readonly (string | null)[]): Child {
  const known = Object.entries(EXCHANGES).filter(([kind]) => kinds.includes(kind));
  return known.length > 0 && h('p.quiet', ...known.map(([, words]) => words));
}

/** What a view shows, as the service defines it, in a line below. */
export function meaningLine({ conventions }: Performance, name: string): HTMLElement | null {
  const words = conventions.definitions[name];
  return words === undefined ? null : h('p.quiet.about', `${words}.`);
}
