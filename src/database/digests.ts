import { sha256 } from '../digest.ts';
import type { Reader } from './database.ts';
import { query, text } from './rows.ts';

/**
 * What a committed model-day consists of, in parts, and the columns of each part. A digest is the SHA-256 of the rows as a JSON
 * array of arrays, in order, as base64url. The columns are frozen: a digest of other columns would be another digest.
 */
const PARTS = {
  session: [
    `SELECT session_id, job_id, date, model, started_from_session_id, initial_cash_e4, pays_dividends, session_summary, note,
       steps, total_messages, started_at, completed_at, wording FROM trading_sessions WHERE session_id = ?`,
  ],
  conversation: [
    `SELECT message_index, role, content, summary, tool_name, tool_input, tool_calls, carried, timestamp FROM reasoning_logs
     WHERE session_id = ? ORDER BY message_index`,
  ],
  positions: [
    `SELECT position_id, action_id, action_type, symbol, amount, price_e4, cash_e4, portfolio_value_e4, daily_profit_e4,
       daily_return_pct, created_at FROM positions WHERE session_id = ? ORDER BY action_id`,
    `SELECT action_id, holdings.symbol, quantity FROM positions JOIN holdings USING (position_id)
     WHERE session_id = ? ORDER BY action_id, holdings.symbol`,
  ],
  evidence: [
    `SELECT symbol, date, held_since, open_e4, open_date, close_e4, close_date FROM session_prices
     WHERE session_id = ? ORDER BY symbol`,
    'SELECT symbol, date, numerator, denominator FROM session_splits WHERE session_id = ? ORDER BY symbol, date',
    `SELECT symbol, ex_date, cash_e6, basis, splits, paid_e6 FROM session_dividends WHERE session_id = ? ORDER BY symbol, ex_date`,
  ],
  tool_usage: ['SELECT tool_name, calls, refused, duration_ms FROM tool_usage WHERE session_id = ? ORDER BY tool_name'],
  usage: [
    `SELECT used.steps, requests, prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens, cost_usd,
       used.started_at, used.completed_at
     FROM trading_sessions JOIN job_details AS used USING (job_id, date, model) WHERE session_id = ?`,
  ],
  terms: [
    `SELECT start_date, end_date, dates, replace_existing, agent_config, universe, deployment_mode, created_at
     FROM trading_sessions JOIN jobs USING (job_id) WHERE session_id = ?`,
    `SELECT run_id, model_index, start_date, created_at, entry, family
     FROM trading_sessions JOIN simulation_runs USING (job_id, model) WHERE session_id = ?`,
  ],
};

export type Part = keyof typeof PARTS;

/** In words, for the sentences of a check. */
export const partNames: Record<Part, string> = {
  session: 'its session',
  conversation: 'its conversation',
  positions: 'its positions or holdings',
  evidence: 'the prices, splits and dividends that it used',
  tool_usage: 'its tool usage',
  usage: 'its tokens, cost or times',
  terms: 'its job or its entry',
};

const parts = Object.keys(PARTS) as Part[];

function digestOf(reader: Reader, sessionId: number, part: Part): string {
  const rows = PARTS[part].map((sql) => reader.statement(sql, 'arrays').all(sessionId));
  return sha256(JSON.stringify(rows)).toString('base64url');
}

/** Stores the digests of a session at the end of the transaction that commits it. */
export function storeDigests(reader: Reader, sessionId: number): void {
  const digests = parts.map((part) => digestOf(reader, sessionId, part));
  reader
    .statement(`INSERT INTO session_digests (session_id, ${parts.join(', ')}) VALUES (?${', ?'.repeat(parts.length)})`)
    .run(sessionId, ...digests);
}

const STORED = query(`SELECT ${parts.join(', ')} FROM session_digests WHERE session_id = ?`, {
  session: text,
  conversation: text,
  positions: text,
  evidence: text,
  tool_usage: text,
  usage: text,
  terms: text,
});

/**
 * The parts of a session that are not what was committed; null for a session from before digests. Throws a RangeError for an
 * integer that no JavaScript number holds.
 */
export function changedParts(reader: Reader, sessionId: number): Part[] | null {
  const stored = STORED.get(reader, sessionId);
  return stored === undefined ? null : parts.filter((part) => stored[part] !== digestOf(reader, sessionId, part));
}
