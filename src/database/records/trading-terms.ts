import { type AgentConfiguration, parseAgentConfiguration } from '../../configuration.ts';
import type { Money } from '../../money.ts';
import type { Database } from '../database.ts';

/** How the models of some jobs traded, by job. Jobs with the same configuration share one object. */
export function agentConfigurations(database: Database, jobIds: Iterable<string>): Map<string, AgentConfiguration> {
  const rows = database
    .statement('SELECT job_id AS jobId, agent_config AS text FROM jobs WHERE job_id IN (SELECT value FROM json_each(?))')
    .all(JSON.stringify([...jobIds])) as unknown as { jobId: string; text: string }[];
  const parsed = new Map<string, AgentConfiguration>();
  return new Map(
    rows.map(({ jobId, text }) => {
      const configuration = parsed.get(text) ?? parseAgentConfiguration(JSON.parse(text));
      parsed.set(text, configuration);
      return [jobId, configuration];
    }),
  );
}

/** The cash that the first completed day of each model started with; null for a model without one. */
export function initialCashOf(database: Database, models: Iterable<string>): Map<string, Money | null> {
  const rows = database
    .statement(
      `SELECT value AS model, (SELECT initial_cash_e4 FROM trading_sessions
         WHERE trading_sessions.model = json_each.value AND status = 'active' ORDER BY date LIMIT 1) AS cash
       FROM json_each(?)`,
    )
    .all(JSON.stringify([...models])) as unknown as { model: string; cash: Money | null }[];
  return new Map(rows.map(({ model, cash }) => [model, cash]));
}
