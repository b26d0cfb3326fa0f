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

/** How long a database found healthy is taken to be so: under load, looking at it took a tenth of the time of a health check. */
const LOOK_AGAIN_MS = 10;

/** Always 200: the body says whether the database can be queried, and when that was looked at. */
export function health(context: Context): ResponseBody {
  const body = recentBody(context);
  const write = context.settings.deploymentMode === 'DEV' ? context.log.debug : context.log.info;
  write('health check');
  return body;
}

let remembered: { context: Context; body: string; until: number } | null = null;

function recentBody(context: Context): string {
  const now = performance.now();
  if (remembered?.context === context && now < remembered.until) return remembered.body;
  const isHealthy = isDatabaseHealthy(context.database);
  const body = JSON.stringify({
    status: isHealthy ? 'healthy' : 'unhealthy',
    database: isHealthy ? 'connected' : 'disconnected',
    timestamp: timestamp(context.clock()),
    ...(context.viewedFile !== null && { viewing: context.viewedFile }),
    ...deploymentFields(context.settings),
  });
  remembered = { context, body, until: isHealthy ? now + LOOK_AGAIN_MS : now };
  return body;
}
