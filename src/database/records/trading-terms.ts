import type { Money } from '../../money.ts';
import type { Database, Reader } from '../database.ts';
import { amount, orNull, query, text } from '../rows.ts';

const CONFIGURATIONS = query(
  'SELECT job_id, agent_config FROM jobs WHERE job_id IN (SELECT value FROM json_each(?))',
  [text, text],
);

/** The terms on which the models of some jobs traded, by job: the agent configuration as stored. */
export function storedConfigurations(
  database: Database,
  jobIds: Iterable<string>,
): Map<string, string> {
  return new Map(CONFIGURATIONS.all(database, JSON.stringify([...jobIds])));
}

const NEWEST_CONFIGURATION = query(
  `SELECT agent_config FROM jobs WHERE job_id IN (
     SELECT job_id FROM trading_sessions WHERE session_id IN (SELECT value FROM json_each(?)))
   ORDER BY rowid DESC LIMIT 1`,
  [text],
);

/**
 * The agent configuration of the newest job that ran one of these model-days; undefined when there
 * are none.
 */
export function newestConfiguration(
  database: Database,
  sessionIds: readonly number[],
): string | undefined {
  return NEWEST_CONFIGURATION.get(database, JSON.stringify(sessionIds))?.[0];
}

const INITIAL_CASH = query(
  `SELECT value, (SELECT initial_cash_e4 FROM trading_sessions
     WHERE trading_sessions.model = json_each.value AND status IN ('active', 'opening') ORDER BY date, session_id LIMIT 1)
   FROM json_each(?)`,
  [text, orNull(amount)],
);

/**
 * The cash with which each model's first completed day started, as an opening before it tells; null
 * for a model without one.
 */
export function initialCashOf(
  database: Reader,
  models: Iterable<string>,
): Map<string, Money | null> {
  return new Map(INITIAL_CASH.all(database, JSON.stringify([...models])));
}
