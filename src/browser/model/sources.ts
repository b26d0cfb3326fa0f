import type { Filters } from '../filters/filters.ts';
import { getHoldings, getPerformance, getTrades } from '../service/requests.ts';
import type { Details, Holdings, ModelReport, Performance } from '../service/responses.ts';
import type { Trade } from '../service/trades.ts';

/** All that the page shows of a model's days. */
export interface ModelData {
  report: ModelReport;
  details: Details;
  performance: Performance;
  trades: Trade[];
  held: Holdings;
}

/** Asks for a model's chosen days; null if there are none. */
export async function modelData(model: string, filters: Filters, signal: AbortSignal): Promise<ModelData | null> {
  const { start_date, end_date, job_id, benchmark, days } = filters;
  const chosen = given({ model, start_date, end_date, job_id });
  const figures = getPerformance({ ...chosen, ...given({ benchmark, days }), details: 'true' }, signal);
  // Only the figures know after which date the clean days begin.
  const range = days === 'clean' ? { ...chosen, ...(await cleanRange(figures, start_date)) } : chosen;
  const [performance, trades, held] = await Promise.all([
    figures,
    getTrades({ ...chosen, ...given({ days }) }, signal),
    getHoldings(range, signal),
  ]);
  const report = performance.models.find((one) => one.model === model);
  if (report?.details == null) return null;
  return { report, details: report.details, performance, trades, held };
}

type Query = Record<string, string>;

/** The parameters that are not empty. */
function given(parameters: Query): Query {
  return Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== ''));
}

async function cleanRange(figures: Promise<Performance>, startDate: string): Promise<Query> {
  const { clean_after: cutoff } = await figures;
  if (cutoff === null) return {};
  const first = dayAfter(cutoff);
  return { start_date: first > startDate ? first : startDate };
}

function dayAfter(date: string): string {
  const next = new Date(`${date}T00:00:00Z`);
  next.setUTCDate(next.getUTCDate() + 1);
  return next.toISOString().slice(0, 10);
}
