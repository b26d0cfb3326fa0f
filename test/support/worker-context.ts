import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { silentLog } from '../../src/core/process/log.ts';
import { readSettings } from '../../src/core/settings/settings.ts';
import { workerLimits } from '../../src/core/children/places.ts';
import type { CommandDatabase } from '../../src/core/database/database.ts';
import type { WorkerContext } from '../../src/core/jobs/active-job.ts';
import { createAgentDays } from '../../src/core/trading/agent-days.ts';
import { scriptedAgent } from './agents.ts';
import { clockFrom, TODAY } from './service.ts';

/** What jobs need beside their database, without a service: its configuration lies beside it. */
export function workerContext(
  database: CommandDatabase,
  configuration: object = { models: [] },
): WorkerContext {
  const configurationPath = join(database.path, '../config.json');
  writeFileSync(configurationPath, JSON.stringify(configuration));
  const settings = { ...readSettings({ DEPLOYMENT_MODE: 'DEV' }), configurationPath };
  const fixed = { clock: clockFrom(TODAY), log: silentLog, environment: {}, limits: workerLimits };
  const agentDays = createAgentDays(() => 'http://127.0.0.1');
  return { database, settings, agentDays, ...fixed, ...scriptedAgent({}) };
}
