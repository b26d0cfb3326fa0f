import type { Reader } from './database.ts';
import { query, real } from './rows.ts';

const RISK_FREE_RATE = query('SELECT risk_free_rate FROM figure_settings', [real]);

/**
 * The yearly risk-free rate of a file's figures, as a fraction: that of its last service, of a
 * package its author's; or null.
 */
export function riskFreeRateOf(reader: Reader): number | null {
  return RISK_FREE_RATE.get(reader)?.[0] ?? null;
}

/**
 * Stores with the database, within the caller's transaction, what the figures of its service depend
 * on.
 */
export function storeRiskFreeRate(database: Pick<Reader, 'statement'>, rate: number): void {
  database
    .statement('INSERT OR REPLACE INTO figure_settings (only_row, risk_free_rate) VALUES (1, ?)')
    .run(rate);
}
