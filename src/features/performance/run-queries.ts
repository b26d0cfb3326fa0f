import type { Database, Reader } from '#database/database.ts';
import { orNull, amount, query, text } from '#database/rows.ts';
import type { Money } from '#money/money.ts';

const AGENTS = query(
  `SELECT model, job_id FROM json_each(?) AS chosen CROSS JOIN simulation_runs ON job_id = chosen.value
   WHERE json_extract(entry, '$.kind') = 'agent'`,
  [text, text],
);

/** The runs that were an agent in any of their jobs, whatever their entry is now. */
export function findAgents(
  reader: Reader,
  runs: readonly { model: string; jobIds: ReadonlySet<string> }[],
): Set<string> {
  const jobs = new Map(runs.map(({ model, jobIds }) => [model, jobIds]));
  const all = new Set(runs.flatMap(({ jobIds }) => [...jobIds]));
  const agents = AGENTS.all(reader, [...all]).filter(([model, job]) => jobs.get(model)?.has(job));
  return new Set(agents.map(([model]) => model));
}

const CONFIGURATIONS = query(
  'SELECT job_id, agent_config FROM jobs WHERE job_id IN (SELECT value FROM json_each(?)) ORDER BY rowid',
  [text, text],
);

/**
 * The terms on which the models of some jobs traded, by job, the newest last: the agent
 * configuration as stored.
 */
export function storedConfigurations(
  database: Database,
  jobIds: Iterable<string>,
): Map<string, string> {
  return new Map(CONFIGURATIONS.all(database, [...jobIds]));
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
export function readInitialCash(
  database: Reader,
  models: Iterable<string>,
): Map<string, Money | null> {
  return new Map(INITIAL_CASH.all(database, [...models]));
}
