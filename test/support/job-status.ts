import { US } from '../../src/core/domain/market-rules.ts';
import type { Status } from '../../src/features/pages/responses.ts';
import type { Database } from '../../src/core/database/database.ts';
import { jobStatus, jobModelDays } from '../../src/core/database/records/job-records.ts';
import type { ModelDayStatus } from '../../src/core/domain/vocabulary.ts';

const TIME = '2025-12-01T12:00:00.000Z';

/** What a job of two stocks trades under when its configuration says nothing else. */
export const USUAL_TERMS = {
  initial_cash: 10_000,
  commission_per_trade: 0,
  commission_bps: 0,
  min_commission: 0,
  sell_tax_bps: 0,
  slippage_bps: 0,
  market: US,
  dividends: true,
  max_steps: 30,
  open: 'shown' as const,
  limits: null,
  max_cost_usd: null,
  symbols: ['AAPL', 'MSFT'],
};

/**
 * A job's status as the service answers it, from its model-days; running while one has not ended.
 */
export function jobStatusAnswer(
  modelDays: readonly { date: string; model: string; status: ModelDayStatus }[],
  changes: Partial<Status> = {},
): Status {
  const isOpen = (status: ModelDayStatus) => status === 'pending' || status === 'running';
  const details = modelDays.map(({ date, model, status }) => ({
    date,
    model,
    status,
    error: status === 'failed' ? "it's tired" : null,
    started_at: TIME,
    completed_at: isOpen(status) ? null : TIME,
    duration_seconds: isOpen(status) ? null : 0,
    steps: 1,
    requests: 1,
    prompt_tokens: null,
    completion_tokens: null,
    cached_tokens: null,
    reasoning_tokens: null,
    cost_usd: null,
  }));
  const pending = details.filter(({ status }) => isOpen(status)).length;
  const countOf = (wanted: ModelDayStatus) =>
    details.filter(({ status }) => status === wanted).length;
  const failed = countOf('failed');
  return {
    job_id: 'the-job',
    status: pending > 0 ? 'running' : 'completed',
    progress: {
      total_model_days: details.length,
      completed: details.length - pending - failed,
      failed,
      pending,
      skipped: countOf('skipped'),
      cancelled: 0,
    },
    date_range: [...new Set(details.map(({ date }) => date))],
    models: [...new Set(details.map(({ model }) => model))],
    entries: [],
    universe: null,
    study: null,
    created_at: TIME,
    started_at: TIME,
    completed_at: pending > 0 ? null : TIME,
    total_duration_seconds: pending > 0 ? null : 1,
    error: null,
    usage: { cost_usd: null, model_days_without_cost: 0 },
    terms: USUAL_TERMS,
    replace_existing: false,
    details,
    warnings: null,
    warning_codes: null,
    deployment_mode: 'DEV',
    is_dev_mode: true,
    preserve_dev_data: false,
    ...changes,
  };
}

/** A job's status as it is stored, with its model-days. */
export function storedStatus(database: Database, jobId: string): any {
  const details = [...jobModelDays(database, jobId)].flatMap((json) =>
    json === null ? [] : [JSON.parse(json)],
  );
  return { ...JSON.parse(jobStatus(database, jobId)?.json ?? '{}'), details };
}
