import type * as v from 'valibot';
import type { comparisonResponse } from '../comparison/route.ts';
import type { decisionsResponse } from '../decisions/route.ts';
import type { documentCoverageResponse, documentResponse } from '#api/documents.ts';
import type { jobsResponse } from '#api/jobs.ts';
import type { modelsResponse } from '#api/models.ts';
import type { performanceResponse } from '../performance/response.ts';
import type { coverageResponse } from '../coverage/route.ts';
import type { reasoningResponse, searchResponse } from '#api/reasoning.ts';
import type { resultsResponse } from '#api/results.ts';
import type { Status } from '#api/status.ts';
import type { triggerRequest, TriggerResponse } from '#api/trigger.ts';

/**
 * The types of responses for those who read them, from the schemas that the server is tested
 * against. Nothing here runs.
 */

export type { Status, TriggerResponse };
export type JobEntry = Status['entries'][number];
export type Detail = Status['details'][number];
export type Results = v.InferOutput<typeof resultsResponse>;
export type ResultsRecord = Results['results'][number];
export type Reasoning = v.InferOutput<typeof reasoningResponse>;
export type Session = Reasoning['sessions'][number];
export type Message = NonNullable<Session['conversation']>[number];
export type TriggerRequest = v.InferInput<typeof triggerRequest>;

export type Jobs = v.InferOutput<typeof jobsResponse>;
export type Job = Jobs['jobs'][number];
export type KnownModels = v.InferOutput<typeof modelsResponse>;
export type Performance = v.InferOutput<typeof performanceResponse>;
export type ModelReport = Performance['models'][number];

export type Decisions = v.InferOutput<typeof decisionsResponse>;
export type Decision = Decisions['decisions'][number];

export type Comparison = v.InferOutput<typeof comparisonResponse>;
export type ComparedModel = Comparison['models'][number];
export type ComparedPair = Comparison['pairs'][number];

export type Details = NonNullable<ModelReport['details']>;
export type Drawdown = Details['drawdowns'][number];

type Found = v.InferOutput<typeof searchResponse>;
export type FoundMessage = Found['messages'][number];

/** What pages request with GET, by path. */
export interface Responses {
  [path: `/simulate/status/${string}`]: Status;
  [path: `/documents/${string}?${string}`]: v.InferOutput<typeof documentResponse>;
  '/jobs': Jobs;
  '/models': KnownModels;
  '/performance': Performance;
  '/comparison': Comparison;
  '/results': Results;
  '/reasoning': Reasoning;
  '/decisions': Decisions;
  '/search': Found;
  '/prices/coverage': v.InferOutput<typeof coverageResponse>;
  '/documents/coverage': v.InferOutput<typeof documentCoverageResponse>;
  '/openapi.json': unknown;
}
