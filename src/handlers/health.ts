import * as v from 'valibot';
import { timestamp } from '../calendar.ts';
import { isDatabaseHealthy } from '../database/state.ts';
import { type ResponseBody, type Context, deploymentFields } from './handler.ts';
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
  const body = bodyOfThisTurn(context);
  const write = context.settings.deploymentMode === 'DEV' ? context.log.debug : context.log.info;
  write('health check');
  return body;
}

let remembered: { context: Context; body: string } | null = null;

/** Requests that arrive in one turn of the event loop share one query; their responses would be identical anyway. */
function bodyOfThisTurn(context: Context): string {
  if (remembered?.context === context) return remembered.body;
  const isHealthy = isDatabaseHealthy(context.database);
  const body = JSON.stringify({
    status: isHealthy ? 'healthy' : 'unhealthy',
    database: isHealthy ? 'connected' : 'disconnected',
    timestamp: timestamp(context.clock()),
    ...(context.viewedFile !== null && { viewing: context.viewedFile }),
    ...deploymentFields(context.settings),
  });
  remembered = { context, body };
  setImmediate(() => (remembered = null));
  return body;
}
