import type * as v from 'valibot';
import { audit, auditResponse } from '../handlers/audit.ts';
import type { Answer, Context, Input } from '../handlers/handler.ts';
import { health, healthResponse } from '../handlers/health.ts';
import { reasoning, reasoningQuery, reasoningResponse } from '../handlers/reasoning.ts';
import { results, resultsQuery, resultsResponse } from '../handlers/results.ts';
import { status, statusResponse } from '../handlers/status.ts';
import { trigger, triggerRequest, triggerResponse } from '../handlers/trigger.ts';
import * as examples from './examples.ts';
import { openapi } from './openapi-handler.ts';

/** One endpoint: how it is reached, what it takes, what it answers, and with which errors. */
export interface Route {
  method: 'GET' | 'POST';
  path: string;
  summary: string;
  query?: v.GenericSchema;
  body?: v.GenericSchema;
  response?: v.GenericSchema;
  /** The statuses that are its own, with their conditions; 405, 422 and 500 are added where they can happen. */
  errors: Record<number, string>;
  /** Error bodies carry the deployment fields, except where the specification leaves them out. */
  bareErrors?: true;
  example: { request?: unknown; response: unknown };
  handle: (context: Context, input: Input<never, never>) => Answer | Promise<Answer>;
}

/** THE API ON ONE SCREEN. */
export const routes: readonly Route[] = [
  {
    method: 'POST',
    path: '/simulate/trigger',
    summary: 'Start a simulation job: every model on every weekday of a range.',
    body: triggerRequest,
    response: triggerResponse,
    errors: {
      400: 'Invalid range, no models, another job is running, or the body is not JSON.',
      413: 'The body is too large.',
      415: 'The body is not declared as JSON.',
    },
    example: examples.trigger,
    handle: trigger,
  },
  {
    method: 'GET',
    path: '/simulate/status/{job_id}',
    summary: 'How far a job is, model-day by model-day.',
    response: statusResponse,
    errors: { 404: 'There is no such job.' },
    example: examples.status,
    handle: status,
  },
  {
    method: 'GET',
    path: '/results',
    summary: 'Every position: cash, holdings and value after each action, by date, model and action.',
    query: resultsQuery,
    response: resultsResponse,
    errors: {},
    bareErrors: true,
    example: examples.results,
    handle: results,
  },
  {
    method: 'GET',
    path: '/reasoning',
    summary: 'The trading sessions, and on request their whole conversations.',
    query: reasoningQuery,
    response: reasoningResponse,
    errors: { 400: 'The date is not YYYY-MM-DD.', 404: 'No session matches the filters.' },
    example: examples.reasoning,
    handle: reasoning,
  },
  {
    method: 'GET',
    path: '/audit',
    summary: 'Recompute every model-day from its actions and prices, and say what does not add up.',
    response: auditResponse,
    errors: {},
    example: examples.audit,
    handle: audit,
  },
  {
    method: 'GET',
    path: '/health',
    summary: 'Whether the service can reach its database; always 200.',
    response: healthResponse,
    errors: {},
    example: examples.health,
    handle: health,
  },
  {
    method: 'GET',
    path: '/openapi.json',
    summary: 'This description, in OpenAPI 3.1.',
    errors: {},
    example: examples.openapi,
    handle: openapi,
  },
];
