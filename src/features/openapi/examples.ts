import { join } from 'node:path';
import { readSettings } from '#settings/settings.ts';
import type { Route } from '#api/route.ts';
import { openResponder } from '../publish/respond.ts';

export interface Example {
  request?: unknown;
  response: unknown;
  /** The response as CSV, where the route has one. */
  csv?: string;
}

/** The job of simulated models that others verify (docs/guides/verify.md). */
const JOB_FILE = join(import.meta.dirname, '../../../docs/demo-package.db');
/** What every example calls it, whenever the file was made. */
const JOB = 'fd551483-cd28-4ae3-92ba-7b8623aa5068';
const DAY = { model: 'simulated-1', date: '2026-10-06' };

/** More of a list or a text would not be read. */
const [ITEMS, LETTERS] = [2, 200];

const deployment = { deployment_mode: 'PROD', is_dev_mode: false, preserve_dev_data: null };

/** What a file cannot answer. */
const written: Record<string, Example> = {
  '/simulate/trigger': {
    request: {
      start_date: '2025-09-15',
      end_date: '2025-10-10',
      models: ['gpt-5', 'claude-sonnet-4.5'],
      replace_existing: false,
      universe: null,
      study: null,
    },
    response: {
      job_id: JOB,
      status: 'pending',
      total_model_days: 40,
      message: 'Simulation job created for 20 dates, 2 models',
      study: null,
      ...deployment,
      warnings: null,
      warning_codes: null,
    },
  },
  '/health': {
    response: {
      status: 'healthy',
      database: 'connected',
      timestamp: '2026-11-04T12:00:00.000Z',
      ...deployment,
    },
  },
};

/** Makes the examples, by path, when the program is built: of the five routes that most begin with. */
export function makeExamples(routes: readonly Route[]): Readonly<Record<string, Example>> {
  const view = { name: JOB_FILE, settings: readSettings({}), routes };
  const { respond, close } = openResponder(JOB_FILE, view);
  try {
    const { job_id: own } = JSON.parse(respond('/jobs')).jobs[0];
    const ask = (path: string, query = {}) => respond(path, query).replaceAll(own, JOB);
    const example = (path: string, query?: Record<string, string>) => {
      return { response: shortenLists(JSON.parse(ask(path, query))) };
    };
    return {
      ...written,
      '/simulate/status/{job_id}': example(`/simulate/status/${own}`),
      '/results': { ...example('/results', DAY), csv: ask('/results', { ...DAY, format: 'csv' }) },
      '/jobs': example('/jobs'),
      '/decisions': example('/decisions', { model: DAY.model, limit: '2' }),
      '/search': example('/search', { q: 'cash', limit: '2' }),
      '/holdings': example('/holdings', { model: DAY.model }),
      '/comparison': example('/comparison', { models: 'simulated-1,simulated-2' }),
      '/models': example('/models'),
      '/reasoning': example('/reasoning', { ...DAY, include_full_conversation: 'true' }),
    };
  } finally {
    close();
  }
}

/** With the first of each list, and the beginnings of long texts. */
function shortenLists(value: unknown): unknown {
  if (typeof value === 'string')
    return value.length <= LETTERS ? value : `${value.slice(0, LETTERS)}…`;
  if (Array.isArray(value)) return value.slice(0, ITEMS).map(shortenLists);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shortenLists(one)]));
}
