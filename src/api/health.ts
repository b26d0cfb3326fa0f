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

/**
 * How long a database found healthy is taken to be so: under load, looking at it took a tenth of
 * the time of a health check.
 */
const LOOK_AGAIN_MS = 100;

/** Always 200: the body says whether the database can be queried. */
export function health(context: Context): ResponseBody {
  const isHealthy = isRecentlyHealthy(context);
  const write = context.settings.deploymentMode === 'DEV' ? context.log.debug : context.log.info;
  write('health check');
  const now = context.clock(); // the timestamp is always of this moment: the command line takes the last session from it
  const at = now.getTime();
  if (last?.context === context && last.at === at && last.isHealthy === isHealthy) return last.body;
  const body = JSON.stringify({
    status: isHealthy ? 'healthy' : 'unhealthy',
    database: isHealthy ? 'connected' : 'disconnected',
    timestamp: timestamp(now),
    ...(context.viewedFile !== null && { viewing: context.viewedFile }),
    ...deploymentFields(context.settings),
  });
  last = { context, at, isHealthy, body };
  return body;
}

/**
 * All checks of one millisecond have the same body: to make it took a twentieth of the time of a
 * check.
 */
let last: { context: Context; at: number; isHealthy: boolean; body: string } | null = null;

let foundHealthy: { context: Context; until: number } | null = null;

function isRecentlyHealthy(context: Context): boolean {
  const now = performance.now();
  if (foundHealthy?.context === context && now < foundHealthy.until) return true;
  const isHealthy = isDatabaseHealthy(context.database);
  foundHealthy = isHealthy ? { context, until: now + LOOK_AGAIN_MS } : null;
  return isHealthy;
}
