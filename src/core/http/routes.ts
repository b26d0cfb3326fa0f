import * as v from 'valibot';
import { audit, auditQuery, auditResponse } from '../api/audit.ts';
import {
  cancel,
  cancelResponse,
  discard,
  discardResponse,
  areSmall,
  jobs,
  jobsQuery,
  jobsResponse,
} from '../api/jobs.ts';
import {
  comparison,
  comparisonQuery,
  comparisonResponse,
} from '../../features/comparison/route.ts';
import {
  callTool,
  day,
  dayResponse,
  dayTools,
  toolRequest,
  toolResponse,
  toolsResponse,
} from '../api/day.ts';
import { decisions, decisionsQuery, decisionsResponse } from '../../features/decisions/route.ts';
import {
  coverage,
  document,
  documentCoverageResponse,
  documentQuery,
  documentResponse,
} from '../api/documents.ts';
import type { Context, Handled, Input } from '../api/handler.ts';
import { health, healthResponse } from '../api/health.ts';
import {
  areFew,
  holdings,
  holdingsQuery,
  holdingsResponse,
  results,
  resultsQuery,
  resultsResponse,
} from '../api/results.ts';
import { models, modelsResponse } from '../api/models.ts';
import { performance, performanceQuery } from '../../features/performance/route.ts';
import { performanceResponse } from '../../features/performance/response.ts';
import { coverageQuery, coverageResponse, priceCoverage } from '../../features/coverage/route.ts';
import {
  reasoning,
  reasoningQuery,
  reasoningResponse,
  search,
  searchQuery,
  searchResponse,
} from '../api/reasoning.ts';
import { isOfSmallJob, status, statusResponse } from '../api/status.ts';
import { trigger, triggerHeaders, triggerRequest, triggerResponse } from '../api/trigger.ts';
import { namedRecord } from '../api/schemas.ts';
import type { Fields } from './request.ts';

/** The parts of the API; generated clients have a module for each. */
export type Tag = 'jobs' | 'results' | 'data' | 'agents' | 'service';

/** One endpoint: its method and path, its request, its response and its errors. */
export interface Route {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  tag: Tag;
  summary: string;
  query?: Fields;
  body?: v.GenericSchema & { entries?: v.ObjectEntries };
  headers?: Fields;
  response: v.GenericSchema;
  /** Its own error statuses, with their conditions; those that every route can return are added. */
  errors?: Record<number, string>;
  /** Its error bodies lack the deployment fields, which those of all other routes have. */
  bareErrors?: true;
  /** Needs no access token. */
  isPublic?: true;
  /** Needs the token of a model-day, and takes no other. */
  isOfDay?: true;
  /**
   * Of a GET: whether the serving thread makes the response, because that takes little time. All
   * others are made in a reader thread.
   */
  isShort?(context: Context, input: Input): boolean;
  /** Of a GET: it reads the database as it is now, or not at all. */
  isDirect?: true;
  /** Of a GET: it reads only the database, and is kept while nothing in that changes. */
  isKept?: true;
  /** Whether it also responds in CSV, and has `format` in its query. */
  hasTable?: true;
  /**
   * A method, so that handlers with a more specific input can be assigned: the schemas above
   * guarantee it.
   */
  handle(context: Context, input: Input): Handled;
}

const BUSY = { 503: 'Too many long responses are being sent; Retry-After says when to try again.' };

const NO_JOB = { 404: 'There is no such job.' };

const OF_MODEL_DAYS = { 400: 'The start date is after the end date.', ...NO_JOB, ...BUSY };

const BAD_BODY = {
  413: 'The body is too large.',
  415: 'The body is not declared as JSON.',
};
const OF_DAY = {
  401: 'The token is not that of a model-day that runs.',
  409: 'The day has been decided.',
};

/** THE API ON ONE SCREEN. */
export const routes: readonly Route[] = [
  {
    method: 'POST',
    path: '/simulate/trigger',
    tag: 'jobs',
    summary: 'Start a simulation job: every model on every weekday of a range.',
    body: triggerRequest,
    headers: triggerHeaders,
    response: triggerResponse,
    errors: {
      400: 'Invalid range, no models, another job is running, or the body is not JSON.',
      ...BAD_BODY,
    },
    handle: trigger,
  },
  {
    method: 'GET',
    path: '/simulate/status/{job_id}',
    tag: 'jobs',
    summary: "A job's progress, model-day by model-day.",
    response: statusResponse,
    errors: NO_JOB,
    isShort: isOfSmallJob,
    handle: status,
  },
  {
    method: 'POST',
    path: '/simulate/cancel/{job_id}',
    tag: 'jobs',
    summary: 'Stop a job: its model processes end, completed model-days are kept.',
    response: cancelResponse,
    errors: { ...NO_JOB, 409: 'The job has ended, and was not cancelled.' },
    handle: cancel,
  },
  {
    method: 'DELETE',
    path: '/jobs/{job_id}',
    tag: 'jobs',
    summary: 'Discard an ended job: its model-days no longer count, those they replaced do again.',
    response: discardResponse,
    errors: { ...NO_JOB, 409: 'A job has not ended.' },
    handle: discard,
  },
  {
    method: 'GET',
    path: '/jobs',
    tag: 'jobs',
    summary: 'The jobs, newest first, each with its status and progress; a page at a time.',
    query: jobsQuery,
    response: jobsResponse,
    isShort: areSmall,
    hasTable: true,
    isKept: true,
    handle: jobs,
  },
  {
    method: 'GET',
    path: '/results',
    tag: 'results',
    summary:
      'Every position: cash, holdings and value after each action, by date, model and action.',
    query: resultsQuery,
    response: resultsResponse,
    errors: BUSY,
    bareErrors: true,
    isShort: areFew,
    hasTable: true,
    handle: results,
  },
  {
    method: 'GET',
    path: '/reasoning',
    tag: 'results',
    summary: 'The trading sessions, and on request their whole conversations.',
    query: reasoningQuery,
    response: reasoningResponse,
    errors: { 400: 'The date is not YYYY-MM-DD.', 404: 'No session matches the filters.', ...BUSY },
    handle: reasoning,
  },
  {
    method: 'GET',
    path: '/decisions',
    tag: 'results',
    summary:
      'What the models did and why, newest first: orders, refusals, failures, days without a trade; a page at a time.',
    query: decisionsQuery,
    response: decisionsResponse,
    errors: OF_MODEL_DAYS,
    hasTable: true,
    isKept: true,
    handle: decisions,
  },
  {
    method: 'GET',
    path: '/search',
    tag: 'results',
    summary:
      'The messages of conversations that contain all of some words, newest first; a page at a time.',
    query: searchQuery,
    response: searchResponse,
    errors: OF_MODEL_DAYS,
    handle: search,
  },
  {
    method: 'GET',
    path: '/performance',
    tag: 'results',
    summary: 'How each model did: its curve, return, risk, trades and cost, beside a benchmark.',
    query: performanceQuery,
    response: performanceResponse,
    errors: { ...OF_MODEL_DAYS, 404: 'There is no such job, or no price of the benchmark.' },
    hasTable: true,
    isKept: true,
    handle: performance,
  },
  {
    method: 'GET',
    path: '/holdings',
    tag: 'results',
    summary: 'What a model held at the close of each day: shares, prices, values and weights.',
    query: holdingsQuery,
    response: holdingsResponse,
    errors: OF_MODEL_DAYS,
    hasTable: true,
    isKept: true,
    handle: holdings,
  },
  {
    method: 'GET',
    path: '/comparison',
    tag: 'results',
    summary:
      'Whether models differ by more than chance: differences with intervals, and what it would take to show them.',
    query: comparisonQuery,
    response: comparisonResponse,
    errors: OF_MODEL_DAYS,
    hasTable: true,
    isKept: true,
    handle: comparison,
  },
  {
    method: 'GET',
    path: '/models',
    tag: 'data',
    summary:
      'The models of the configuration and those named in jobs, with what each has completed.',
    response: modelsResponse,
    errors: BUSY,
    handle: models,
  },
  {
    method: 'GET',
    path: '/prices/coverage',
    tag: 'data',
    summary:
      'The stored prices: per symbol its bars, covered spans, gaps between them and last download.',
    query: coverageQuery,
    response: coverageResponse,
    isKept: true,
    handle: priceCoverage,
  },
  {
    method: 'GET',
    path: '/documents/coverage',
    tag: 'data',
    summary: 'The number and dates of documents, by kind and symbol.',
    response: documentCoverageResponse,
    isKept: true,
    handle: coverage,
  },
  {
    method: 'GET',
    path: '/documents/{id}',
    tag: 'data',
    summary: 'A document in one version, or as it was on a morning.',
    query: documentQuery,
    response: documentResponse,
    errors: { 404: 'There is no such document.' },
    handle: document,
  },
  {
    method: 'GET',
    path: '/day',
    tag: 'agents',
    summary: 'The day of an agent, with the portfolio as it is now.',
    response: dayResponse,
    errors: OF_DAY,
    isOfDay: true,
    isDirect: true,
    handle: day,
  },
  {
    method: 'GET',
    path: '/day/tools',
    tag: 'agents',
    summary: 'The tools of the day: name, description, arguments as JSON Schema.',
    response: toolsResponse,
    errors: OF_DAY,
    isOfDay: true,
    isDirect: true,
    handle: dayTools,
  },
  {
    method: 'POST',
    path: '/day/tools/{name}',
    tag: 'agents',
    summary: 'Run a tool of the day; the body has its arguments.',
    body: toolRequest,
    response: toolResponse,
    errors: {
      ...OF_DAY,
      ...BAD_BODY,
      503: 'The database cannot be written; the day begins again.',
    },
    isOfDay: true,
    handle: callTool,
  },
  {
    method: 'GET',
    path: '/audit',
    tag: 'service',
    summary:
      'Play every model-day again from its recorded answers and prices, and report what does not add up.',
    query: auditQuery,
    response: auditResponse,
    errors: { ...NO_JOB, ...BUSY },
    isDirect: true,
    handle: audit,
  },
  {
    method: 'GET',
    path: '/health',
    tag: 'service',
    summary: 'Whether the service can reach its database; always 200.',
    response: healthResponse,
    isPublic: true,
    isDirect: true,
    handle: health,
  },
  {
    method: 'GET',
    path: '/openapi.json',
    tag: 'service',
    summary: 'This description, in OpenAPI 3.1.',
    response: namedRecord('InterfaceDescription', v.unknown()),
    isDirect: true,
    handle: ({ interfaceDescription }) => interfaceDescription(),
  },
];
