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

/** Always 200: the body says whether the database can be queried. */
export function health(context: Context): ResponseBody {
  const isHealthy = isRecentlyHealthy(context);
  const write = context.settings.deploymentMode === 'DEV' ? context.log.debug : context.log.info;
  write('health check');
  return JSON.stringify({
    status: isHealthy ? 'healthy' : 'unhealthy',
    database: isHealthy ? 'connected' : 'disconnected',
    timestamp: timestamp(context.clock()), // always of this moment: the command line takes the last session from it
    ...(context.viewedFile !== null && { viewing: context.viewedFile }),
    ...deploymentFields(context.settings),
  });
}

let foundHealthy: { context: Context; until: number } | null = null;

function isRecentlyHealthy(context: Context): boolean {
  const now = performance.now();
  if (foundHealthy?.context === context && now < foundHealthy.until) return true;
  const isHealthy = isDatabaseHealthy(context.database);
  foundHealthy = isHealthy ? { context, until: now + LOOK_AGAIN_MS } : null;
  return isHealthy;
}
