import * as v from 'valibot';
import { timestamp } from '#time/calendar.ts';
import { isDatabaseHealthy } from '#database/state.ts';
import { jsonBody } from './handler.ts';
import { namedResponse, timestampText } from './schemas.ts';
import { route } from './route.ts';

const healthResponse = namedResponse('HealthResponse', {
  status: v.picklist(['healthy', 'unhealthy']),
  database: v.picklist(['connected', 'disconnected']),
  timestamp: timestampText,
  viewing: v.optional(v.string()),
});

export const healthRoute = route({
  method: 'GET',
  path: '/health',
  tag: 'service',
  summary: 'Whether the service can reach its database; always 200.',
  response: healthResponse,
  isPublic: true,
  isDirect: true,
  handle(context) {
    const isHealthy = isDatabaseHealthy(context.database);
    const write = context.settings.deploymentMode === 'DEV' ? context.log.debug : context.log.info;
    write('health check');
    return jsonBody(context.settings, {
      status: isHealthy ? 'healthy' : 'unhealthy',
      database: isHealthy ? 'connected' : 'disconnected',
      timestamp: timestamp(context.clock()),
      ...(context.viewedFile !== null && { viewing: context.viewedFile }),
    });
  },
});
