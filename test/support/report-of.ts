import type { LedgerDay, UsageTotals } from '../../src/features/performance/queries.ts';
import type { ModelRecord } from '../../src/features/performance/record.ts';
import { reportModel } from '../../src/features/performance/report.ts';

export const NO_USAGE: UsageTotals = {
  ...{ steps: 0, requests: 0, cost_usd: null, model_days_without_cost: 0 },
  ...{ prompt_tokens: null, completion_tokens: null, cached_tokens: null, reasoning_tokens: null },
};

/**
 * The report of a ledger whose days each start from the one before, all of them chosen, without
 * prices or a benchmark.
 */
export function reportOf(ledger: readonly LedgerDay[], differences: Partial<ModelRecord> = {}) {
  const starts = ledger.map(({ sessionId }, index) => {
    return [sessionId, ledger[index - 1]?.date ?? null] as const;
  });
  const record: ModelRecord = {
    ledger,
    chosen: new Map(starts),
    staleDates: new Set(),
    unpaidDates: new Set(),
    unknownDates: new Set(),
    usage: NO_USAGE,
    refusals: { orders: 0, malformed: 0, tries: 0, answers: 0 },
    benchmark: { withDividends: [], ofPrices: [] },
    markOf: () => null,
    riskFree: 0,
    currency: 'USD',
    gains: null,
    factors: null,
    ...differences,
  };
  return reportModel(record);
}
