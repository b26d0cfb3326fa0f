import * as v from 'valibot';
import { timestamp } from '../calendar.ts';
import { isDatabaseHealthy } from '../database/database.ts';
import { type ResponseBody, type Context, deploymentFields } from './handler.ts';
import { deploymentEntries, named, timestampText } from './schemas.ts';

export const healthResponse = named('HealthResponse', {
  status: v.picklist(['healthy', 'unhealthy']),
  database: v.picklist(['connected', 'disconnected']),
  timestamp: timestampText,
  ...deploymentEntries,
});

/** Always 200: whoever asks learns from the body whether the database can be queried. */
export function health(context: Context): ResponseBody {
  const answer = answerOfThisTurn(context);
  const write = context.settings.deploymentMode === 'DEV' ? context.log.debug : context.log.info;
  write('health check');
  return answer;
}

let remembered: { context: Context; answer: string } | null = null;

/** Requests that arrive in one turn of the event loop share one query; their answers would be the same anyway. */
function answerOfThisTurn(context: Context): string {
  if (remembered?.context === context) return remembered.answer;
  const isHealthy = isDatabaseHealthy(context.database);
  const answer = JSON.stringify({
    status: isHealthy ? 'healthy' : 'unhealthy',
    database: isHealthy ? 'connected' : 'disconnected',
    timestamp: timestamp(context.clock()),
    ...deploymentFields(context.settings),
  });
  remembered = { context, answer };
  setImmediate(() => (remembered = null));
  return answer;
}
