import * as v from 'valibot';
import { timestamp } from '../time/calendar.ts';
import { isDatabaseHealthy } from '../database/state.ts';
import { type Context, jsonBody, type ResponseBody } from './handler.ts';
import { namedResponse, timestampText } from './schemas.ts';

export const healthResponse = namedResponse('HealthResponse', {
  status: v.picklist(['healthy', 'unhealthy']),
  database: v.picklist(['connected', 'disconnected']),
  timestamp: timestampText,
  /** The file that a view shows; absent in a service. */
  viewing: v.optional(v.string()),
});

/** Always 200: the body says whether the database can be queried. */
export function health(context: Context): ResponseBody {
  const isHealthy = isDatabaseHealthy(context.database);
  const write = context.settings.deploymentMode === 'DEV' ? context.log.debug : context.log.info;
  write('health check');
  return jsonBody(context.settings, {
    status: isHealthy ? 'healthy' : 'unhealthy',
    database: isHealthy ? 'connected' : 'disconnected',
    timestamp: timestamp(context.clock()),
    ...(context.viewedFile !== null && { viewing: context.viewedFile }),
  });
}
