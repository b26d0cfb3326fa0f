import { type SessionFilters, lastChange, visibleSessions } from '../chosen.ts';
import type { Database } from '../database.ts';
import { type Part, portionsOf, rowsOf } from './results.ts';

/** Messages are read together up to about so many bytes; a longer one alone. */
const MESSAGE_BYTES_PER_STEP = 64 * 1024;

const MESSAGE_COUNT = `
  CASE status WHEN 'running'
    THEN (SELECT count(*) FROM reasoning_logs WHERE reasoning_logs.session_id = trading_sessions.session_id)
    ELSE total_messages END`;

const SESSIONS = `
  SELECT json_object(
      'session_id', session_id, 'job_id', job_id, 'date', date, 'model', model, 'session_summary', session_summary,
      'started_at', started_at, 'completed_at', completed_at, 'total_messages', ${MESSAGE_COUNT}),
    (SELECT json_group_array(json_object(
      'action_id', action_id, 'action_type', action_type, 'symbol', symbol, 'amount', amount, 'price', price_e4 / 10000.0,
      'cash_after', cash_e4 / 10000.0, 'portfolio_value', portfolio_value_e4 / 10000.0) ORDER BY action_id)
      FROM positions WHERE positions.session_id = trading_sessions.session_id
        AND action_id BETWEEN part.value ->> 1 AND part.value ->> 2)
  FROM json_each(?) AS part CROSS JOIN trading_sessions ON trading_sessions.session_id = part.value ->> 0
  ORDER BY part.key`;

/**
 * The trading sessions that the filters let through, as JSON text in pieces that together are a list without its brackets.
 * Each has at most RECORDS_PER_STEP positions or MESSAGE_BYTES_PER_STEP of conversation. Committed model-days are as they
 * are at the first step, a running one as it is when it is read. Null where others may have their turn.
 */
export function* sessionPieces(
  database: Database,
  filters: SessionFilters,
  { conversation, onSession }: { conversation: boolean; onSession: () => void },
): Generator<string | null> {
  let separator = '';
  for (const sessions of visibleSessions(database, filters, lastChange(database))) {
    yield null;
    for (const portion of portionsOf(database, sessions.map(({ sessionId }) => sessionId))) {
      const rows = rowsOf(database, SESSIONS).all(JSON.stringify(portion)) as unknown as [string, string][];
      for (const [index, [head, positions]] of rows.entries()) {
        const [sessionId, first, last, actions] = portion[index] as Part;
        if (first === 1) onSession();
        yield first === 1 ? `${separator}${head.slice(0, -1)},"positions":[` : ',';
        yield positions.slice(1, -1);
        if (last < actions) continue;
        yield '],"conversation":';
        yield* conversation ? conversationPieces(database, sessionId) : ['null'];
        yield '}';
        separator = ',';
      }
      yield null;
    }
  }
}

const MESSAGE_SIZES = `
  SELECT message_index, octet_length(content) + coalesce(octet_length(summary), 0) + coalesce(octet_length(tool_input), 0)
  FROM reasoning_logs WHERE session_id = ? ORDER BY message_index`;

const MESSAGES = `
  SELECT json_group_array(json_object(
    'message_index', message_index, 'role', role, 'content', content, 'summary', summary, 'tool_name', tool_name,
    'tool_input', tool_input, 'timestamp', timestamp) ORDER BY message_index)
  FROM reasoning_logs WHERE session_id = ? AND message_index BETWEEN ? AND ?`;

/** A conversation as a JSON list, some messages at a time. */
function* conversationPieces(database: Database, sessionId: number): Generator<string | null> {
  const sizes = rowsOf(database, MESSAGE_SIZES).all(sessionId) as unknown as [number, number][];
  let separator = '[';
  for (const [first, last] of spansOf(sizes)) {
    const messages = String(rowsOf(database, MESSAGES).get(sessionId, first, last)?.[0]);
    yield separator + messages.slice(1, -1);
    yield null;
    separator = ',';
  }
  yield separator === '[' ? '[]' : ']';
}

/** The first and the last index of messages that are read together. */
function* spansOf(sizes: readonly [index: number, bytes: number][]): Generator<[number, number]> {
  let start = 0;
  let bytes = 0;
  for (const [place, [, size]] of sizes.entries()) {
    if (place > start && bytes + size > MESSAGE_BYTES_PER_STEP) {
      yield [sizes[start]?.[0] as number, sizes[place - 1]?.[0] as number];
      [start, bytes] = [place, 0];
    }
    bytes += size;
  }
  if (start < sizes.length) yield [sizes[start]?.[0] as number, sizes.at(-1)?.[0] as number];
}
