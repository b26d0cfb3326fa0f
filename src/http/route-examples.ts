import * as examples from './examples.ts';
import { performance } from './performance-example.ts';

export interface Example {
  request?: unknown;
  response: unknown;
  /** The answer as CSV, where the route has one. */
  csv?: string;
}

/** The example of each route, by method and path. For the interface description alone, so no part of the running program. */
export const routeExamples: Record<string, Example> = {
  'POST /simulate/trigger': examples.trigger,
  'GET /simulate/status/{job_id}': examples.status,
  'POST /simulate/cancel/{job_id}': examples.cancel,
  'GET /jobs': examples.jobs,
  'GET /results': examples.results,
  'GET /reasoning': examples.reasoning,
  'GET /performance': performance,
  'GET /models': examples.models,
  'GET /prices/coverage': examples.priceCoverage,
  'GET /audit': examples.audit,
  'GET /health': examples.health,
  'GET /openapi.json': examples.openapi,
};

/** Throws when a route has none. */
export function exampleOf({ method, path }: { method: string; path: string }): Example {
  const example = routeExamples[`${method} ${path}`];
  if (example === undefined) throw new Error(`Cannot describe ${method} ${path}: it has no example`);
  return example;
}
