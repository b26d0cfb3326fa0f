import assert from 'node:assert/strict';
import type { CommandDatabase } from '../../src/core/database/database.ts';
import { readCsv } from './csv-agreement.ts';
import { isLong } from './long.ts';

/** All that a client can read of one study, and the rows that are its own. */

/** What a client asks; for `STUDY`, `RUN` and `TABLE` stand the study, its models, and tables. */
const PATHS = `
  /results?STUDY
  /results?STUDY&format=csv
  /results?STUDY&model=RUN&start_date=2025-09-04&end_date=2025-09-10
  /reasoning?STUDY
  /reasoning?STUDY&include_full_conversation=true
  /reasoning?STUDY&include_full_conversation=true&model=RUN&date=2025-09-10
  /decisions?STUDY&limit=200
  /decisions?STUDY&limit=200&format=csv&models=RUN
  /decisions?STUDY&kind=failure
  /search?STUDY&q=cash
  /search?STUDY&q=AAPL&models=RUN
  /jobs?STUDY
  /jobs?STUDY&format=csv
  /performance?STUDY&details=true
  /performance?STUDY&details=true&by=entry&common=true
  /performance?STUDY&model=RUN&days=clean
  /performance?STUDY&start_date=2025-09-05&benchmark=AAPL
  /performance?STUDY&format=csv&table=TABLE
  /performance?STUDY&format=csv&table=TABLE&by=entry
  /comparison?STUDY
  /comparison?STUDY&start_date=2025-09-05&curves=true&models=gpt,dice
  /comparison?STUDY&looks=daily&against=dice
  /comparison?STUDY&format=csv&table=models
  /comparison?STUDY&format=csv&table=pairs
  /holdings?STUDY&model=RUN
  /holdings?STUDY&model=RUN&format=csv
  /models?STUDY
  /audit?STUDY`
  .trim()
  .split(/\s+/);

/** Where a request without `study` means the study without a name. */
const UNNAMED = ['/performance', '/comparison', '/holdings?model=gpt', '/models'];
const OF_JOB = ['/simulate/status/JOB', '/performance?job_id=JOB'];
const RUNS = isLong ? ['gpt', 'gpt#2', 'unreliable-opus', 'dice'] : ['gpt#2'];
const TABLES = isLong
  ? ['curve', 'returns', 'trades', 'actions', 'style', 'figures']
  : ['returns', 'trades', 'figures'];

/** The routes that are asked. */
export const askedRoutes = new Set(PATHS.map((path) => path.split('?')[0] ?? ''));

function pathsOf(study: string, jobs: readonly string[]): string[] {
  const own = PATHS.flatMap((path) => {
    const asked = path.replace('STUDY', `study=${encodeURIComponent(study)}`);
    if (asked.includes('RUN'))
      return RUNS.map((run) => asked.replace('RUN', encodeURIComponent(run)));
    return asked.includes('TABLE') ? TABLES.map((table) => asked.replace('TABLE', table)) : asked;
  });
  const ofJobs = jobs.flatMap((job) => OF_JOB.map((path) => path.replace('JOB', job)));
  return [...own, ...ofJobs, ...(study === '' ? UNNAMED : [])];
}

const OF_STUDY = `coalesce(study, '') = ?`;
const ofJobs = (table: string, order: string) =>
  `SELECT ${table}.* FROM ${table} JOIN jobs USING (job_id) WHERE ${OF_STUDY} ORDER BY jobs.rowid, ${order}`;
const ofSessions = (table: string, order: string) =>
  `SELECT ${table}.* FROM ${table} JOIN trading_sessions AS own USING (session_id) JOIN jobs USING (job_id)
   WHERE ${OF_STUDY} ORDER BY jobs.rowid, own.date, own.model, session_id, ${order}`;
/** SQL: the rows of a study in an order that is the same whatever ran beside them. */
const ROWS = {
  jobs: `SELECT * FROM jobs WHERE ${OF_STUDY} ORDER BY rowid`,
  simulation_runs: ofJobs('simulation_runs', 'model_index'),
  job_details: ofJobs('job_details', 'date, model'),
  trading_sessions: ofJobs('trading_sessions', 'date, model, session_id'),
  positions: ofSessions('positions', 'action_id'),
  holdings: ofSessions('holdings', 'symbol'),
  decisions: ofSessions('decisions', 'place'),
  reasoning_logs: ofSessions('reasoning_logs', 'message_index'),
  tool_usage: ofSessions('tool_usage', 'tool_name'),
  session_prices: ofSessions('session_prices', 'symbol'),
};

/** The ids of a study's rows in this database. */
function idsOf(database: CommandDatabase, study: string) {
  const column = (table: keyof typeof ROWS, name: string) => {
    const rows = database.statement(ROWS[table]).all(study);
    return new Map(rows.map((row, place) => [String(row[name]), place]));
  };
  return {
    job: column('jobs', 'job_id'),
    session: column('trading_sessions', 'session_id'),
    action: column('positions', 'position_id'),
    message: column('reasoning_logs', 'log_id'),
  };
}
type Ids = ReturnType<typeof idsOf>;

/** How long it took, numbers of writes, and what is said of other studies. */
const LEFT_OUT =
  /^(.*duration.*|run_id|morning_write|commit_write|progress_mark|trials_elsewhere|studies|newest_study)$/;
/** Which ids a field has at a path or in a table. */
const NAMES: [field: RegExp, place: RegExp, what: keyof Ids][] = [
  [/session_id$/, /./, 'session'],
  [/^(position_)?id$/, /results|positions/, 'action'],
  [/^(log_id|next_before)$/, /reasoning_logs|search/, 'message'],
  [/^(id|next_before)$/, /decisions/, 'session'],
];
const UUID = /[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g;
const TIME = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;

/** A value as text: of ids it has the places among the rows of the study, and of times none. */
function normalised(value: unknown, place: string, ids: Ids): string {
  const text = JSON.stringify(value, (key, own) => {
    if (LEFT_OUT.test(key)) return '-';
    const [, , what] = NAMES.find(([field, path]) => field.test(key) && path.test(place)) ?? [];
    if (what === undefined || own === null) return own;
    return String(own).replace(/^\d+/, (id) => `${what} ${ids[what].get(id)}`);
  });
  return withoutJobs(text, ids).replaceAll(TIME, 'TIME');
}

const withoutJobs = (text: string, { job }: Ids) =>
  text.replaceAll(UUID, (id) => `job ${job.get(id)}`);

const UNCOMPRESSED = { headers: { 'accept-encoding': 'identity' } };

/** Everything of a study, by where it is found. */
export async function readStudy(
  { url, database }: { url: string; database: CommandDatabase },
  study: string,
): Promise<Map<string, string>> {
  const ids = idsOf(database, study);
  const read = new Map<string, string>();
  const paths = pathsOf(study, [...ids.job.keys()]);
  const nameOf = (path: string) => withoutJobs(path.replace(/(?<=before=).*/, '…'), ids);
  for (const path of paths) {
    const response = await fetch(url + path, UNCOMPRESSED);
    const text = await response.text();
    assert.equal(response.status, 200, `${path}: ${text}`);
    const isCsv = path.includes('format=csv');
    const body = isCsv ? [text.split('\r\n')[0], readCsv(text)] : JSON.parse(text);
    read.set(nameOf(path), normalised(body, path, ids));
    if (body.next_before && !path.includes('before='))
      paths.push(`${path}&before=${body.next_before}`); // the second page
  }
  for (const [table, sql] of Object.entries(ROWS))
    read.set(table, normalised(database.statement(sql).all(study), table, ids));
  return read;
}

/** Where two readings part, each with what is around that place. */
export function differences(
  read: ReadonlyMap<string, string>,
  expected: ReadonlyMap<string, string>,
): string[] {
  assert.deepEqual([...read.keys()], [...expected.keys()]);
  return [...read].flatMap(([place, text]) => {
    const other = expected.get(place) ?? '';
    if (text === other) return [];
    const at = text.split('').findIndex((letter, index) => letter !== other[index]);
    const around = (whole: string) => whole.slice(Math.max(0, at - 150), at + 150);
    return `${place}: …${around(text)}… instead of …${around(other)}…`;
  });
}
