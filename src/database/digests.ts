import { sha256 } from '../digest.ts';
import type { Reader } from './database.ts';
import { type Column, type Query, integer, orNull, query, real, text } from './rows.ts';

const HOLDINGS = rows(
  'positions JOIN holdings USING (position_id) WHERE session_id = ? ORDER BY action_id, holdings.symbol',
  {
    action_id: integer,
    'holdings.symbol': text,
    quantity: integer,
  },
);

/** Only where a provider said something of itself: older conversations keep their digests. */
const SERVED = rows(
  'reasoning_logs WHERE session_id = ? AND served IS NOT NULL ORDER BY message_index',
  {
    message_index: integer,
    served: orNull(text),
  },
);

/**
 * Digests of what a committed model-day consists of, in parts. Each is the SHA-256 of the rows as
 * JSON, as base64url: an array for each table below, of an array for each row, in order. The
 * columns are frozen: a digest of others would be another digest.
 */
const PARTS = {
  session: [
    rows('trading_sessions WHERE session_id = ?', {
      ...{
        session_id: integer,
        job_id: orNull(text),
        date: text,
        model: text,
        started_from_session_id: orNull(integer),
      },
      ...{
        initial_cash_e4: orNull(integer),
        pays_dividends: integer,
        session_summary: orNull(text),
        note: orNull(text),
      },
      ...{
        steps: integer,
        total_messages: integer,
        started_at: text,
        completed_at: orNull(text),
        wording: orNull(integer),
      },
    }),
  ],
  conversation: [
    rows('reasoning_logs WHERE session_id = ? ORDER BY message_index', {
      ...{
        message_index: integer,
        role: text,
        content: text,
        summary: orNull(text),
        tool_name: orNull(text),
      },
      ...{
        tool_input: orNull(text),
        tool_calls: orNull(text),
        carried: orNull(text),
        timestamp: text,
      },
    }),
    SERVED,
  ],
  positions: [
    rows('positions WHERE session_id = ? ORDER BY action_id', {
      ...{
        position_id: integer,
        action_id: integer,
        action_type: text,
        symbol: orNull(text),
        amount: orNull(integer),
      },
      ...{
        price_e4: orNull(integer),
        cash_e4: integer,
        portfolio_value_e4: integer,
        daily_profit_e4: integer,
      },
      ...{ daily_return_pct: orNull(real), created_at: text },
    }),
    HOLDINGS,
  ],
  evidence: [
    rows('session_prices WHERE session_id = ? ORDER BY symbol', {
      ...{
        symbol: text,
        date: text,
        held_since: orNull(text),
        open_e4: orNull(integer),
        open_date: orNull(text),
      },
      ...{ close_e4: orNull(integer), close_date: orNull(text) },
    }),
    rows('session_splits WHERE session_id = ? ORDER BY symbol, date', {
      ...{ symbol: text, date: text, numerator: orNull(integer), denominator: orNull(integer) },
    }),
    rows('session_dividends WHERE session_id = ? ORDER BY symbol, ex_date', {
      ...{
        symbol: text,
        ex_date: text,
        cash_e6: integer,
        basis: text,
        splits: text,
        paid_e6: integer,
      },
    }),
  ],
  tool_usage: [
    rows('tool_usage WHERE session_id = ? ORDER BY tool_name', {
      tool_name: text,
      calls: integer,
      refused: integer,
      duration_ms: real,
    }),
  ],
  usage: [
    rows(
      'trading_sessions AS own JOIN job_details AS used USING (job_id, date, model) WHERE session_id = ?',
      {
        ...{
          'used.steps': integer,
          requests: integer,
          prompt_tokens: orNull(integer),
          completion_tokens: orNull(integer),
        },
        ...{
          cached_tokens: orNull(integer),
          reasoning_tokens: orNull(integer),
          cost_usd: orNull(real),
        },
        ...{ 'used.started_at': orNull(text), 'used.completed_at': orNull(text) },
      },
    ),
  ],
  terms: [
    rows('trading_sessions AS own JOIN jobs USING (job_id) WHERE session_id = ?', {
      ...{
        start_date: text,
        end_date: text,
        dates: text,
        replace_existing: integer,
        agent_config: text,
      },
      ...{ universe: orNull(text), deployment_mode: orNull(text), created_at: text },
    }),
    rows(
      'trading_sessions AS own JOIN simulation_runs USING (job_id, model) WHERE session_id = ?',
      {
        ...{
          run_id: integer,
          model_index: integer,
          start_date: text,
          created_at: text,
          entry: orNull(text),
          family: orNull(text),
        },
      },
    ),
  ],
};

function rows(from: string, columns: Record<string, Column<unknown>>): Query<unknown> {
  return query(`SELECT ${Object.keys(columns).join(', ')} FROM ${from}`, Object.values(columns));
}

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

function digestOf(reader: Reader, sessionId: number, part: Part, holdings?: string): string {
  const tables = PARTS[part].flatMap((table) => {
    if (table === HOLDINGS && holdings !== undefined) return holdings;
    const found = table.all(reader, sessionId);
    return table === SERVED && found.length === 0 ? [] : JSON.stringify(found);
  });
  return sha256(`[${tables.join()}]`).toString('base64url');
}

/**
 * Stores the digests of a session at the end of the transaction that commits it. The rows of its
 * holdings are known, as JSON: a day that trades a thousand symbols has half a million, and reading
 * them takes as long as inserting them.
 */
export function storeDigests(reader: Reader, sessionId: number, holdings: string): void {
  const digests = parts.map((part) => digestOf(reader, sessionId, part, holdings));
  reader
    .statement(
      `INSERT INTO session_digests (session_id, ${parts.join(', ')}) VALUES (?${', ?'.repeat(parts.length)})`,
    )
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
 * The parts of a session that are not what was committed; null for a session from before digests.
 * Throws a RangeError for an integer that no JavaScript number holds.
 */
export function changedParts(reader: Reader, sessionId: number): Part[] | null {
  const stored = STORED.get(reader, sessionId);
  return stored === undefined
    ? null
    : parts.filter((part) => stored[part] !== digestOf(reader, sessionId, part));
}
