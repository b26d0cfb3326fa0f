import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { execFile } from 'node:child_process';
import { PROGRAM, startServer } from '../../bench/support.ts';
import { addDays } from '../../src/core/time/calendar.ts';
import { contradictions } from '../../test/support/agreement.ts';
import { differences } from '../../test/support/csv-agreement.ts';
import { randomNumbers } from './installation.ts';

/**
 * `npm run consistency -- [SECONDS] [SEED]`: one job after another commits, replaces, is cancelled
 * or discarded, and prices are imported, while every GET is asked again and again, as JSON and CSV.
 * No response may contradict itself, and no two of the same state each other. Five minutes by
 * default; a short form is part of `npm run test:long`. Exit code 1 when anything was found.
 */

const MODELS = ['alpha', 'beta', 'beta#2', 'gamma', 'hold'];
/** What the service is configured with: simulated models, one of them with two runs. */
export const consistencyConfiguration = {
  models: [
    { signature: 'alpha', enabled: true },
    { signature: 'beta', enabled: true, repeats: 2 },
    { signature: 'gamma', enabled: true },
    { signature: 'hold', basemodel: 'baseline/buy-and-hold', enabled: true },
  ],
  agent_config: { stock_symbols: ['AAPL', 'MSFT', 'NVDA'] },
  // Simulated models decide the same from the same; with fewer symbols a repeated day ends otherwise.
  universes: { two: ['AAPL', 'MSFT'] },
};
const FIRST_MONDAY = '2001-01-01';
const CLIENTS = 4;
const MAX_FINDINGS = 50;
const REQUEST_TIMEOUT_MS = 60_000;
/** On a busy machine it takes longer until so much has been compared, but no more than so many times. */
const LEAST_COMPARED = 3;
const MAX_SLOWER = 60;

type Json = any;

export interface ConsistencyOptions {
  url: string;
  seconds: number;
  seed: number;
  /** Weeks of the first job; comparisons have figures from the fourth on. */
  firstWeeks: number;
  /** Imports a file of prices; the service keeps running. */
  importPrices(csv: string): Promise<void>;
}

export interface ConsistencyReport {
  responses: number;
  /** How often two responses of one state were compared, and how often the state had changed. */
  compared: number;
  moved: number;
  jobs: number;
  imports: number;
  /** The paths that were asked. */
  paths: Set<string>;
  findings: string[];
}

/** What the requests are about. */
interface Story {
  options: ConsistencyOptions;
  report: ConsistencyReport;
  random: () => number;
  jobIds: string[];
  /** The Monday after the last day that was asked for. */
  nextMonday: string;
  isOver: boolean;
}

/** Throws only where the service cannot be asked at all; what contradicts is in the report. */
export async function keepAsking(options: ConsistencyOptions): Promise<ConsistencyReport> {
  const report = { responses: 0, compared: 0, moved: 0, jobs: 0, imports: 0 };
  const story: Story = {
    options,
    report: { ...report, paths: new Set(), findings: [] },
    random: randomNumbers(options.seed),
    jobIds: [],
    nextMonday: FIRST_MONDAY,
    isOver: false,
  };
  await runJob(story, nextWeeks(story, options.firstWeeks));
  const startedAt = performance.now();
  const look = () => {
    const seconds = (performance.now() - startedAt) / 1000;
    const isEnough =
      story.report.compared >= LEAST_COMPARED || seconds > MAX_SLOWER * options.seconds;
    if (seconds > options.seconds && isEnough) story.isOver = true;
  };
  const timer = setInterval(look, 50);
  const end = (error: unknown) => {
    story.isOver = true;
    throw error;
  };
  const clients = Array.from({ length: CLIENTS }, () => askOn(story));
  await Promise.all([runJobs(story), importOn(story), ...clients].map((work) => work.catch(end)));
  clearInterval(timer);
  return story.report;
}

function pick<Item>({ random }: Story, items: readonly Item[]): Item {
  return items[Math.floor(random() * items.length)] as Item;
}

async function fetchText({ options, report }: Story, path: string): Promise<string> {
  const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
  const response = await fetch(options.url + path, { signal });
  const text = await response.text();
  report.responses += 1;
  report.paths.add(path.replace(/\?.*/, '').replace(/(status\/).*/, '$1{job_id}'));
  // It is a 404 where no session matches, as in a week that has just been started.
  if (response.status === 404 && path.startsWith('/reasoning')) return '{"sessions":[],"count":0}';
  if (response.status !== 200) throw new Error(`GET ${path}: ${response.status} ${text}`);
  return text;
}

/** Asks, and notes in which ways the response contradicts itself. */
async function askChecked(story: Story, path: string): Promise<Json> {
  const body = JSON.parse(await fetchText(story, path));
  note(story, contradictions(path, body));
  return body;
}

function note(story: Story, sentences: readonly string[]): void {
  story.report.findings.push(...sentences);
  if (story.report.findings.length >= MAX_FINDINGS) story.isOver = true;
}

/**
 * Looks at something before and after another: where it has not changed, both are of one state, and
 * have to agree. A replaced day can end as before, so what changed in between may have changed back:
 * where a job has gone on meanwhile, a contradiction has to show once more.
 */
async function compare(
  story: Story,
  first: () => Promise<Json>,
  second: (first: Json) => Promise<string[]>,
): Promise<void> {
  const progress = () => fetchText(story, '/jobs?limit=1');
  for (;;) {
    const begun = await progress();
    const before = await first();
    const sentences = await second(before);
    const isSame = JSON.stringify(await first()) === JSON.stringify(before);
    const isDoubtful = isSame && sentences.length > 0 && (await progress()) !== begun;
    if (isDoubtful && !story.isOver) continue;
    if (isSame && !isDoubtful) note(story, sentences);
    story.report[isSame ? 'compared' : 'moved'] += 1;
    return;
  }
}

// ── Jobs and imports ──

function nextWeeks(story: Story, weeks: number): object {
  const start = story.nextMonday;
  story.nextMonday = addDays(start, 7 * weeks);
  return { start_date: start, end_date: addDays(start, 7 * weeks - 3) };
}

/** Days of the last fortnight once more, of one or two models. */
function replacement(story: Story): object {
  const start = addDays(story.nextMonday, -14 + Math.floor(story.random() * 9));
  const models = [pick(story, ['alpha', 'gamma']), 'beta'].slice(
    0,
    1 + Math.floor(story.random() * 2),
  );
  const universe = story.random() < 0.5 ? { universe: 'two' } : {};
  return {
    start_date: start,
    end_date: addDays(start, 3),
    models,
    replace_existing: true,
    ...universe,
  };
}

async function runJobs(story: Story): Promise<void> {
  while (!story.isOver) {
    await runJob(story, story.random() < 0.4 ? nextWeeks(story, 1) : replacement(story));
  }
}

async function runJob(story: Story, request: object): Promise<void> {
  const post = async (path: string, body: object) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' } };
    const response = await fetch(story.options.url + path, { ...init, body: JSON.stringify(body) });
    return (await response.json()) as Json;
  };
  const { job_id: id, detail } = await post('/simulate/trigger', request);
  if (id === undefined)
    throw new Error(`The trigger refused ${JSON.stringify(request)}: ${detail}`);
  story.jobIds.push(id);
  const isCancelled = story.jobIds.length > 1 && story.random() < 0.1;
  for (let asked = 0; ; asked += 1) {
    const { completed_at: end, status } = await askChecked(story, `/simulate/status/${id}`);
    if (end !== null && !['completed', 'cancelled'].includes(status))
      note(story, [`job ${id} is ${status}`]);
    if (end !== null) break;
    if (isCancelled && asked === 2) await post(`/simulate/cancel/${id}`, {});
    await sleep(50);
  }
  const latest = story.jobIds.slice(3).slice(-3); // something is left to compare
  if (latest.length > 0 && story.random() < 0.3) await discard(story, pick(story, latest));
  story.report.jobs += 1;
}

/** One of the last jobs, perhaps once more. */
async function discard(story: Story, id: string): Promise<void> {
  const response = await fetch(`${story.options.url}/jobs/${id}`, { method: 'DELETE' });
  if (response.status !== 200) note(story, [`job ${id} cannot be discarded: ${response.status}`]);
}

/** Prices of symbols that nothing trades: longer each time, and corrected. */
async function importOn(story: Story): Promise<void> {
  for (let round = 1; !story.isOver; round += 1) {
    const lines = ['ZZA', 'ZZB', 'ZZC'].flatMap((symbol) =>
      Array.from({ length: 50 + 10 * (round % 50) }, (_, day) => {
        const price = 100 + ((day * 7 + round) % 20);
        return `${symbol},${addDays('2001-01-01', day)},${price},${price + 2},${price - 1},${price + 1},1000`;
      }),
    );
    await story.options.importPrices(
      ['symbol,date,open,high,low,close,volume', ...lines, ''].join('\n'),
    );
    story.report.imports += 1;
    await sleep(500);
  }
}

// ── Requests ──

async function askOn(story: Story): Promise<void> {
  const kinds = [askOne, askOne, askOne, asCsv, asPages, acrossPaths];
  for (let turn = 0; !story.isOver; turn += 1)
    await (kinds[turn % kinds.length] as typeof askOne)(story);
}

/** Filters by chance: a model, a job, a window that still changes or one that is at rest. */
function filters(story: Story, keys: readonly string[]): string[] {
  const windows = [
    [`start_date=${addDays(story.nextMonday, -10)}`],
    [`end_date=${addDays(story.nextMonday, -22)}`],
    [`start_date=${addDays(FIRST_MONDAY, 2)}`, `end_date=${addDays(FIRST_MONDAY, 24)}`],
  ];
  const all: Record<string, () => string[]> = {
    model: () => [`model=${encodeURIComponent(pick(story, MODELS))}`],
    models: () => [`models=${pick(story, ['alpha,beta', 'beta,hold', 'alpha,gamma,hold'])}`],
    job: () => [`job_id=${story.jobIds[0]}`],
    window: () => pick(story, windows),
  };
  return keys.flatMap((key) => (story.random() < 0.4 ? (all[key]?.() ?? [key]) : []));
}

const withQuery = (path: string, parts: readonly string[]) =>
  path + (parts.length > 0 ? `${path.includes('?') ? '&' : '?'}${parts.join('&')}` : '');

const REQUESTS: readonly [string, ...string[]][] = [
  ['/jobs', 'limit=3', 'status=completed'],
  ['/results', 'model', 'window', 'job'],
  ['/reasoning', 'model'],
  ['/reasoning?include_full_conversation=true', 'model'],
  ['/performance', 'models', 'window', 'details=true', 'common=true', 'benchmark=universe'],
  ['/performance?days=clean&details=true', 'job'],
  ['/holdings?model=alpha', 'window'],
  ['/holdings?model=beta%232', 'window'],
  ['/comparison', 'window', 'against=hold', 'align=number'],
  ['/comparison?models=alpha,beta,hold&curves=true', 'window', 'confidence=0.8'],
  ['/decisions', 'model', 'window', 'job', 'kind=trade', 'symbol=AAPL'],
  ['/decisions?limit=200', 'models', 'window'],
  ['/search?q=bought', 'model', 'window'],
  ['/search?q=executed+buy&limit=100', 'models', 'job'],
  ['/models'],
  ['/prices/coverage', 'symbol=ZZA'],
  ['/prices/coverage', 'date=2001-02-01'],
  ['/audit'],
  ['/health'],
];

async function askOne(story: Story): Promise<void> {
  const [path, ...keys] = pick(story, REQUESTS);
  const isLong = path.startsWith('/reasoning');
  const recent = isLong ? [`start_date=${addDays(story.nextMonday, -10)}`] : [];
  await askChecked(story, withQuery(path, [...recent, ...filters(story, keys)]));
}

const TABLES: readonly [string, ...string[]][] = [
  ['/results', 'model', 'window'],
  ['/performance', 'models', 'window', 'common=true'],
  ['/performance?table=trades', 'models', 'window'],
  ['/performance?table=actions', 'models', 'window'],
  ['/holdings?model=alpha', 'window'],
  ['/comparison', 'window'],
  ['/comparison?table=pairs', 'window', 'models'],
];

async function asCsv(story: Story): Promise<void> {
  const [table, ...keys] = pick(story, TABLES);
  const csvPath = withQuery(table, filters(story, keys));
  // Where `table` is not for JSON, it is left out.
  const path = csvPath.replace(/table=\w+&?/, '').replace(/\?$/, '');
  await compare(
    story,
    () => askChecked(story, path),
    async (body) =>
      differences(csvPath, await fetchText(story, withQuery(csvPath, ['format=csv'])), body),
  );
}

/** Page after page: nothing twice, and together the whole list. */
async function asPages(story: Story): Promise<void> {
  const [list, path, limit] = pick(story, [
    ['decisions', withQuery('/decisions', filters(story, ['model', 'window'])), 7],
    ['messages', withQuery('/search?q=executed', filters(story, ['model', 'window'])), 9],
    ['jobs', '/jobs?', 4],
  ] as const);
  const nameOf = (item: Json) =>
    item.id ?? item.job_id + (item.session_id ?? '') + item.message_index;
  const most = 40;
  const whole = async () => {
    const body = await askChecked(story, withQuery(path, [`limit=${most}`]));
    return body[list].map(nameOf);
  };
  await compare(story, whole, async (all) => {
    const items: Json[] = [];
    let before: string[] = [];
    while (items.length < most) {
      const page = await askChecked(story, withQuery(path, [`limit=${limit}`, ...before]));
      items.push(...page[list]);
      if (page.next_before === null) break;
      before = [`before=${encodeURIComponent(page.next_before)}`];
    }
    const names = items.map(nameOf);
    if (new Set(names).size !== names.length) note(story, [`GET ${path}: pages repeat an item`]);
    const isWhole = JSON.stringify(names.slice(0, most)) === JSON.stringify(all);
    return isWhole ? [] : [`GET ${path}: its pages are not the whole list`];
  });
}

/** The same model-days through different endpoints: their closes, and how many there are. */
async function acrossPaths(story: Story): Promise<void> {
  const model = pick(story, MODELS);
  const filter = [`model=${encodeURIComponent(model)}`, ...filters(story, ['window'])];
  const curveOf = async () => {
    const { models } = await askChecked(story, withQuery('/performance', filter));
    return (models[0]?.curve ?? []).map(({ date, value }: Json) => [date, value]);
  };
  await compare(story, curveOf, async (curve) => {
    const { days } = await askChecked(story, withQuery('/holdings', filter));
    const { results } = await askChecked(story, withQuery('/results', filter));
    const last = new Map(results.map((one: Json) => [one.date, one.portfolio_value]));
    const { models } = await askChecked(story, '/models');
    const completed = models.find((one: Json) => one.signature === model)?.completed_model_days;
    const views = {
      holdings: days.map(({ date, value }: Json) => [date, value]),
      results: [...last],
      ...(filter.length === 1 && { 'model-days of /models': curve.slice(0, completed) }),
    };
    return Object.entries(views)
      .filter(([, view]) => JSON.stringify(view) !== JSON.stringify(curve))
      .map(([name]) => `${filter.join('&')}: ${name} differ from the curve of /performance`);
  });
}

// ── The long form ──

if (import.meta.main) {
  const [seconds = 300, seed = Date.now() % 1_000_000] = process.argv.slice(2).map(Number);
  console.log(`${seconds} seconds, seed ${seed}`);
  void long(seconds, seed);
}

async function long(seconds: number, seed: number): Promise<void> {
  const server = await startServer(PROGRAM, { env: { MAX_SIMULATION_DAYS: '60' } });
  const path = join(server.folder, 'configs/default_config.json');
  writeFileSync(path, JSON.stringify(consistencyConfiguration));
  const importPrices = async (csv: string) => {
    writeFileSync(join(server.folder, 'prices.csv'), csv);
    const env = { DEPLOYMENT_MODE: 'DEV', PRESERVE_DEV_DATA: 'true' };
    const args = [PROGRAM, 'import-prices', '--as', 'raw', 'prices.csv'];
    await promisify(execFile)(process.execPath, args, { cwd: server.folder, env });
  };
  const { findings, ...report } = await keepAsking({
    url: server.url,
    seconds,
    seed,
    firstWeeks: 5,
    importPrices,
  });
  await server.stop();
  console.log({ ...report, paths: report.paths.size });
  console.log(findings.length === 0 ? 'no contradiction' : findings.join('\n'));
  process.exitCode = findings.length === 0 ? 0 : 1;
}
