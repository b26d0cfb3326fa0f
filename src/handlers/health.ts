import * as v from 'valibot';
import { timestamp } from '../calendar.ts';
import { isDatabaseHealthy } from '../database/database.ts';
import { type Answer, type Context, deploymentFields } from './handler.ts';
import { deploymentEntries, timestampText } from './schemas.ts';

export const healthResponse = v.object({
  status: v.picklist(['healthy', 'unhealthy']),
  database: v.picklist(['connected', 'disconnected']),
  timestamp: timestampText,
  ...deploymentEntries,
});

/** Always 200: whoever asks learns from the body whether the database can be queried. */
export function health({ database, settings, clock, log }: Context): Answer {
  const isHealthy = isDatabaseHealthy(database);
  const answer = {
    status: isHealthy ? 'healthy' : 'unhealthy',
    database: isHealthy ? 'connected' : 'disconnected',
    timestamp: timestamp(clock()),
    ...deploymentFields(settings),
  };
  const write = settings.deploymentMode === 'DEV' ? log.debug : log.info;
  write('health check', { status: answer.status });
  return JSON.stringify(answer);
}
