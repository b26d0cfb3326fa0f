import type { Database } from './database.ts';

/** Which model-days an answer is about; an absent filter lets all through. */
export interface SessionFilters {
  jobId?: string | undefined;
  date?: string | undefined;
  model?: string | undefined;
}

/** Sessions read at a time: bounds the memory of a long answer, and how long other requests wait for it. */
const SESSIONS_PER_CHUNK = 200;

/**
 * The sessions whose positions count, in the order of the answer. A committed generation never changes, so reading its
 * positions later, piece by piece, gives the state of this moment.
 */
export function activeSessionIds(database: Database, filters: SessionFilters): number[] {
  const { where, values } = conditions(filters);
  const rows = database
    .statement(`SELECT session_id AS id FROM trading_sessions WHERE status = 'active'${where} ORDER BY date, model`)
    .all(...values) as { id: number }[];
  return rows.map(({ id }) => id);
}

/** As `activeSessionIds`, with the running and failed sessions of model-days that have no active one. */
export function visibleSessionIds(database: Database, filters: SessionFilters): number[] {
  const { where, values } = conditions(filters);
  const rows = database
    .statement(
      `SELECT session_id AS id FROM trading_sessions WHERE (status = 'active' OR (status IN ('running', 'failed') AND NOT EXISTS (
         SELECT 1 FROM trading_sessions AS other
         WHERE other.model = trading_sessions.model AND other.date = trading_sessions.date AND other.status = 'active')))${where}
       ORDER BY date, model, session_id`,
    )
    .all(...values) as { id: number }[];
  return rows.map(({ id }) => id);
}

const RESULTS = `
  SELECT json_group_array(json_object(
    'id', position_id, 'job_id', job_id, 'date', date, 'model', model, 'action_id', action_id, 'action_type', action_type,
    'symbol', symbol, 'amount', amount, 'price', price_e4 / 10000.0, 'cash', cash_e4 / 10000.0,
    'portfolio_value', portfolio_value_e4 / 10000.0, 'daily_profit', daily_profit_e4 / 10000.0,
    'daily_return_pct', daily_return_pct, 'created_at', created_at,
    'holdings', (SELECT json_group_array(json_object('symbol', symbol, 'quantity', quantity) ORDER BY symbol)
      FROM holdings WHERE holdings.position_id = positions.position_id)
  ) ORDER BY chosen.key, action_id) AS json, count(*) AS count
  FROM json_each(?) AS chosen JOIN trading_sessions ON session_id = chosen.value JOIN positions USING (session_id)`;

/** The records of some sessions, piece by piece: each a JSON array as text, with its length. */
export function* resultRecords(
  database: Database,
  sessionIds: readonly number[],
): Generator<{ json: string; count: number }> {
  for (const chunk of chunksOf(sessionIds, SESSIONS_PER_CHUNK))
    yield database.statement(RESULTS).get(JSON.stringify(chunk)) as never;
}

/** The columns of `resultRows`: the fields of a record, the holdings as `AAPL:10 MSFT:2`. */
export const resultColumns = [
  'id',
  'job_id',
  'date',
  'model',
  'action_id',
  'action_type',
  'symbol',
  'amount',
  'price',
  'cash',
  'portfolio_value',
  'daily_profit',
  'daily_return_pct',
  'created_at',
  'holdings',
] as const;

const RESULT_ROWS = `
  SELECT position_id, job_id, date, model, action_id, action_type, symbol, amount, price_e4 / 10000.0, cash_e4 / 10000.0,
    portfolio_value_e4 / 10000.0, daily_profit_e4 / 10000.0, daily_return_pct, created_at,
    (SELECT group_concat(symbol || ':' || quantity, ' ' ORDER BY symbol)
      FROM holdings WHERE holdings.position_id = positions.position_id)
  FROM json_each(?) AS chosen JOIN trading_sessions ON session_id = chosen.value JOIN positions USING (session_id)
  ORDER BY chosen.key, action_id`;

/** The records of some sessions as rows of a table, read chunk by chunk. */
export function* resultRows(
  database: Database,
  sessionIds: readonly number[],
): Generator<readonly (string | number | null)[]> {
  const statement = database.statement(RESULT_ROWS);
  statement.setReturnArrays(true);
  for (const chunk of chunksOf(sessionIds, SESSIONS_PER_CHUNK)) {
    const rows: unknown = statement.all(JSON.stringify(chunk));
    yield* rows as (string | number | null)[][];
  }
}

const POSITIONS = `
  (SELECT json_group_array(json_object(
    'action_id', action_id, 'action_type', action_type, 'symbol', symbol, 'amount', amount, 'price', price_e4 / 10000.0,
    'cash_after', cash_e4 / 10000.0, 'portfolio_value', portfolio_value_e4 / 10000.0) ORDER BY action_id)
    FROM positions WHERE positions.session_id = trading_sessions.session_id)`;

const CONVERSATION = `
  (SELECT json_group_array(json_object(
    'message_index', message_index, 'role', role, 'content', content, 'summary', summary, 'tool_name', tool_name,
    'tool_input', tool_input, 'timestamp', timestamp) ORDER BY message_index)
    FROM reasoning_logs WHERE reasoning_logs.session_id = trading_sessions.session_id)`;

const MESSAGE_COUNT = `
  CASE status WHEN 'running'
    THEN (SELECT count(*) FROM reasoning_logs WHERE reasoning_logs.session_id = trading_sessions.session_id)
    ELSE total_messages END`;

function sessionQuery(conversation: string): string {
  return `
    SELECT json_object(
      'session_id', session_id, 'job_id', job_id, 'date', date, 'model', model, 'session_summary', session_summary,
      'started_at', started_at, 'completed_at', completed_at, 'total_messages', ${MESSAGE_COUNT},
      'positions', ${POSITIONS}, 'conversation', ${conversation}) AS json
    FROM trading_sessions WHERE session_id = ?`;
}

const SESSION = sessionQuery('NULL');
const SESSION_WITH_CONVERSATION = sessionQuery(CONVERSATION);

/** Trading sessions as JSON text, one by one. */
export function* sessionRecords(
  database: Database,
  sessionIds: readonly number[],
  { conversation }: { conversation: boolean },
): Generator<string> {
  const query = conversation ? SESSION_WITH_CONVERSATION : SESSION;
  for (const id of sessionIds) yield database.statement(query).get(id)?.['json'] as string;
}

function conditions({ jobId, date, model }: SessionFilters): { where: string; values: string[] } {
  const given = Object.entries({ job_id: jobId, date, model }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return { where: given.map(([column]) => ` AND ${column} = ?`).join(''), values: given.map(([, value]) => value) };
}

function* chunksOf<Item>(items: readonly Item[], size: number): Generator<readonly Item[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}
