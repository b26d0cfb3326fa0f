import assert from 'node:assert/strict';
import { join } from 'node:path';
import { readSettings } from '../basics/settings.ts';
import { type Respond, respondFrom } from './respond.ts';
import type { Route } from './routes.ts';

export interface Example {
  request?: unknown;
  response: unknown;
  /** The response as CSV, where the route has one. */
  csv?: string;
}

/** The job of simulated models that others verify (docs/verify.md). */
const JOB_FILE = join(import.meta.dirname, '../../docs/demo-package.db');
/** What every example calls it, whenever the file was made. */
const JOB = 'fd551483-cd28-4ae3-92ba-7b8623aa5068';
const MODEL = 'simulated-1';
const DATE = '2026-10-06';

/** More of a list, a text or a table would not be read. */
const [ITEMS, LETTERS, LINES] = [2, 200, 3];

/** What is asked about that job, by path. */
const requests: Record<string, Record<string, string>> = {
  '/simulate/status/{job_id}': {},
  '/jobs': {},
  '/results': { model: MODEL, date: DATE },
  '/reasoning': { model: MODEL, date: DATE, include_full_conversation: 'true' },
  '/performance': { details: 'true' },
  '/comparison': { curves: 'true' },
  '/holdings': { model: MODEL, start_date: DATE, end_date: DATE },
  '/decisions': { model: MODEL, limit: '2' },
  '/search': { q: 'momentum', limit: '1' },
  '/models': {},
  '/prices/coverage': { symbol: 'AAPL' },
  '/health': {},
};

const deployment = { deployment_mode: 'PROD', is_dev_mode: false, preserve_dev_data: null };

/**
 * Examples that a file cannot give: of requests that change something, of faults, of this
 * description.
 */
const written: Record<string, Example> = {
  'POST /simulate/trigger': {
    request: {
      start_date: '2025-09-15',
      end_date: '2025-10-10',
      models: ['gpt-5', 'claude-sonnet-4.5'],
      replace_existing: false,
      universe: null,
    },
    response: {
      job_id: JOB,
      status: 'pending',
      total_model_days: 40,
      message: 'Simulation job created for 20 dates, 2 models',
      ...deployment,
      warnings: null,
      warning_codes: null,
    },
  },
  'POST /simulate/cancel/{job_id}': {
    response: {
      job_id: JOB,
      status: 'cancelled',
      message: 'Job cancelled; 12 model-days will not be run',
      ...deployment,
    },
  },
  'DELETE /jobs/{job_id}': {
    response: {
      job_id: JOB,
      status: 'discarded',
      message: 'Job discarded; 22 model-days withdrawn, 4 earlier generations active again',
      ...deployment,
    },
  },
  'GET /documents/coverage': {
    response: {
      coverage: [{ kind: '10-K', symbol: 'AAPL', documents: 1, first_date: DATE, last_date: DATE }],
      ...deployment,
    },
  },
  'GET /documents/{id}': {
    response: {
      id: 'aapl-2026-10-k',
      kind: '10-K',
      date: DATE,
      published_at: DATE,
      symbols: ['AAPL'],
      title: 'Apple Inc.',
      source: 'SEC',
      url: null,
      digest: '5b9c24e0…',
      text: 'Net sales …',
      ...deployment,
    },
  },
  'GET /audit': {
    response: {
      status: 'faulty',
      duration_seconds: 0.412,
      counts: {
        models: 2,
        model_days: 40,
        superseded_model_days: 1,
        positions: 96,
        damage: 0,
        problems: 1,
        unverifiable: 0,
        stale: 1,
      },
      damage: [],
      problems: [
        {
          model: 'gpt-5',
          date: '2025-09-16',
          session_id: 4,
          status: 'active',
          problems: ['action 2: cash is 8,001.00, should be 8,000.00'],
        },
      ],
      unverifiable: [],
      stale: [{ model: 'claude-sonnet-4.5', date: '2025-09-17' }],
      ...deployment,
    },
  },
  'GET /day': {
    response: {
      signature: 'my-agent',
      run: 'my-agent',
      date: DATE,
      system: 'You are a stock trader with a simulated account. …',
      report: `Today's date: ${DATE} …`,
      portfolio: {
        cash: 8_000,
        holdings: [{ symbol: 'AAPL', quantity: 10, price: 210 }],
        value: 10_100,
      },
      prices: { AAPL: { previous_close: 208.4, open: 210 } },
      limits: { max_tool_calls: 1_000, seconds: 3_600 },
      universe: ['AAPL'],
      day: {
        url: 'http://127.0.0.1:8080',
        token: 'TOKEN',
        expires_at: `${DATE}T11:00:00.000Z`,
      },
    },
  },
  'GET /day/tools': {
    response: {
      tools: [{ name: 'get_price', description: 'The prices of one symbol.', parameters: {} }],
    },
  },
  'POST /day/tools/{name}': {
    request: { symbol: 'AAPL', amount: 2 },
    response: { executed: 'buy', symbol: 'AAPL', amount: 2, price: 210, cash: 7_580, holding: 12 },
  },
  'GET /openapi.json': { response: { openapi: '3.1.0', info: {}, paths: {}, components: {} } },
};

/**
 * Makes the example of each route, in the order of the routes, when the program is built. Throws
 * for a route without an example.
 */
export function makeExamples(routes: readonly Route[]): Map<Route, Example> {
  const clock = () => new Date('2026-11-04T12:00:00Z');
  const view = { name: 'docs/demo-package.db', settings: readSettings({}), clock };
  const { respond: ask, close } = respondFrom(JOB_FILE, view);
  try {
    const { job_id: own } = JSON.parse(ask('/jobs', {})).jobs[0];
    const respond: Respond = (path, query) =>
      ask(path.replace(JOB, own), query).replaceAll(own, JOB);
    return new Map(routes.map((route) => [route, exampleOf(route, respond)]));
  } finally {
    close();
  }
}

function exampleOf({ method, path, hasTable }: Route, respond: Respond): Example {
  const example = written[`${method} ${path}`];
  if (example !== undefined) return example;
  const query = requests[path];
  assert(query !== undefined, `${method} ${path} has no example`);
  const own = path.replace('{job_id}', JOB);
  const response = shortened(JSON.parse(respond(own, query)));
  if (!hasTable) return { response };
  const lines = respond(own, { ...query, format: 'csv' }).split('\r\n');
  return { response, csv: [...lines.slice(0, LINES), ''].join('\r\n') };
}

/** With the first of each list, and the beginnings of long texts. */
function shortened(value: unknown): unknown {
  if (typeof value === 'string')
    return value.length <= LETTERS ? value : `${value.slice(0, LETTERS)}…`;
  if (Array.isArray(value)) return value.slice(0, ITEMS).map(shortened);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shortened(one)]));
}
