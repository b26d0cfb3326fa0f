import type { Route } from './core/api/route.ts';
import type { Application } from './core/http/application.ts';
import { builtPages, createPages } from './features/pages/built-pages.ts';
import { triggerRoute } from './core/api/trigger.ts';
import { statusRoute } from './core/api/status.ts';
import { cancelRoute, discardRoute, jobsRoute } from './core/api/jobs.ts';
import { resultsRoute } from './core/api/results.ts';
import { reasoningRoute, searchRoute } from './core/api/reasoning.ts';
import { decisionsRoute } from './features/decisions/route.ts';
import { performanceRoute } from './features/performance/route.ts';
import { holdingsRoute } from './features/performance/holdings-route.ts';
import { comparisonRoute } from './features/comparison/route.ts';
import { modelsRoute } from './core/api/models.ts';
import { coverageRoute } from './features/coverage/route.ts';
import { documentCoverageRoute, documentRoute } from './core/api/documents.ts';
import { dayRoute, dayToolsRoute, callToolRoute } from './core/api/day.ts';
import { auditRoute } from './core/api/audit.ts';
import { healthRoute } from './core/api/health.ts';
import { openapiRoute } from './features/openapi/route.ts';
import { mcpRoute } from './features/mcp/route.ts';
import { toolRoutes } from './features/mcp/service-tools.ts';

/** THE API ON ONE SCREEN, in the order of its description: core and features meet here. */
export const routes: readonly Route[] = [
  triggerRoute,
  statusRoute,
  cancelRoute,
  discardRoute,
  jobsRoute,
  resultsRoute,
  reasoningRoute,
  decisionsRoute,
  searchRoute,
  performanceRoute,
  holdingsRoute,
  comparisonRoute,
  modelsRoute,
  coverageRoute,
  documentCoverageRoute,
  documentRoute,
  dayRoute,
  dayToolsRoute,
  callToolRoute,
  mcpRoute(() => tools),
  auditRoute,
  healthRoute,
  openapiRoute(() => routes),
];

/** Those that are tools of the Model Context Protocol, as these call them. */
export const tools = toolRoutes(routes);

/** What the service and a view serve. */
export const application: Application = {
  routes,
  createPages: (mode) => createPages(builtPages(), mode),
};
