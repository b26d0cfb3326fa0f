import { getHoldings, getPerformance, getTrades } from '../api.ts';
import type { Filters } from '../filters.ts';
import type { Details, Holdings, ModelReport, Performance } from '../responses.ts';
import type { Trade } from '../service/trades.ts';
import { cleanStart } from './clean-start.ts';

/** All that the page shows of a model's days. */
export interface ModelData {
  report: ModelReport;
  details: Details;
  performance: Performance;
  trades: Trade[];
  /** By far the longest response, so it arrives last. */
  held: Promise<Holdings>;
}

/** Why a model has none of the chosen days; null where the service gives no reason. */
interface NoDays {
  reason: string | null;
}

/** Asks for a model's chosen days; resolves once all but the holdings is there. */
export async function modelData(
  model: string,
  filters: Filters,
  signal: AbortSignal,
): Promise<ModelData | NoDays> {
  const { start_date, end_date, job_id, benchmark, days } = filters;
  const chosen = given({ model, start_date, end_date, job_id, days });
  const figures = getPerformance({ ...chosen, ...given({ benchmark }), details: 'true' }, signal);
  const held = holdingsOf(figures, { model, filters, signal });
  held.catch(() => null); // the caller that awaits it reports the failure
  const [performance, trades] = await Promise.all([figures, getTrades(chosen, signal)]);
  const report = performance.models.find((one) => one.model === model);
  if (report?.details == null) {
    const unclean = performance.without_clean_days.find((one) => one.model === model);
    return { reason: unclean?.reason ?? null };
  }
  return { report, details: report.details, performance, trades, held };
}

async function holdingsOf(
  figures: Promise<Performance>,
  { model, filters, signal }: { model: string; filters: Filters; signal: AbortSignal },
): Promise<Holdings> {
  const { start_date, end_date, job_id, days } = filters;
  // Only the figures know after which date the clean days begin.
  const start = days === 'clean' ? cleanStart((await figures).clean_after, start_date) : start_date;
  return getHoldings(given({ model, start_date: start, end_date, job_id }), signal);
}

type Query = Record<string, string>;

/** The parameters that are not empty. */
function given(parameters: Query): Query {
  return Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== ''));
}
