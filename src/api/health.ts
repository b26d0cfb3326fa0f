import * as v from 'valibot';
import { timestamp } from '../basics/calendar.ts';
import { isDatabaseHealthy } from '../database/state.ts';
import { type Context, deploymentFields, type ResponseBody } from './handler.ts';
import { deploymentEntries, named, timestampText } from './schemas.ts';

export const healthResponse = named('HealthResponse', {
  status: v.picklist(['healthy', 'unhealthy']),
  database: v.picklist(['connected', 'disconnected']),
  timestamp: timestampText,
  /** The file that a view shows; absent in a service. */
  viewing: v.optional(v.string()),
  ...deploymentEntries,
});

/** Always 200: the body says whether the database can be queried. */
export function health(context: Context): ResponseBody {
  const isHealthy = isDatabaseHealthy(context.database);
  const write = context.settings.deploymentMode === 'DEV' ? context.log.debug : context.log.info;
  write('health check');
  return JSON.stringify({
    status: isHealthy ? 'healthy' : 'unhealthy',
    database: isHealthy ? 'connected' : 'disconnected',
    timestamp: timestamp(context.clock()),
    ...(context.viewedFile !== null && { viewing: context.viewedFile }),
    ...deploymentFields(context.settings),
  });
}
