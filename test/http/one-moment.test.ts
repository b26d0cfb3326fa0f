import assert from 'node:assert/strict';
import { copyFileSync, readFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { before, test, type TestContext } from 'node:test';
import {
  type CommandDatabase,
  type Database,
  openDatabase,
} from '../../src/core/database/database.ts';
import { NO_TRADE } from '../../src/core/database/decisions.ts';
import {
  appendMessages,
  commitSession,
  endModelDay,
  insertSession,
  type LogMessage,
  type ModelDay,
} from '../../src/core/database/sessions.ts';
import { isReady, bodyPieces } from '../../src/core/api/handler.ts';
import { toHttpError } from '../../src/core/http/errors.ts';
import { validateQuery } from '../../src/core/http/request.ts';
import { createRouter } from '../../src/core/http/router.ts';
import { routes } from '../../src/routes.ts';
import { openMoment } from '../../src/core/database/snapshot.ts';
import { silentLog } from '../../src/core/process/log.ts';
import { money } from '../../src/core/money/money.ts';
import { readSettings } from '../../src/core/settings/settings.ts';
import { insertTestJob } from '../support/jobs.ts';
import { runs } from '../support/long.ts';
import { richBooks } from '../support/rich-books.ts';
import { temporaryFolder } from '../support/folder.ts';

/** Every response that is read is of one moment, whatever is committed meanwhile, and writes nothing. */

/** Responses beside which another program writes. */
interface Bench {
  /** The status and the body. */
  textOf(request: string): string;
  /** Copies the database, from which responses are made from then on. */
  renew(): CommandDatabase;
  /** Called before each statement of a response, with its number. */
  onStatement: (number: number) => void;
  /** How many statements the responses have made since `renew`. */
  statements(): number;
}

let template: string;
before(async () => {
  template = join(temporaryFolder(), 'template.db');
  const { database } = await richBooks(template);
  const books = database as CommandDatabase;
  // A job that runs, with a model-day that runs, one that will fail, and one that waits.
  books.transaction(() => {
    const [startDate, endDate] = ['2025-01-07', '2025-01-08'];
    insertTestJob(books, {
      ...{ jobId: 'running', startDate, endDate, dates: [startDate, endDate] },
      runs: ['model-c', 'model-d'].map((model) => ({ model, startDate, family: 'family' })),
      ...{ replaceExisting: false, agentConfig: configuration, createdAt: at(1), warnings: [] },
    });
    books
      .statement(`UPDATE jobs SET status = 'running', started_at = ? WHERE job_id = 'running'`)
      .run(at(2));
    for (const model of ['model-c', 'model-d']) begin(books, { ...RUNNING, model });
  });
  configuration = JSON.parse(
    String(books.statement('SELECT agent_config FROM jobs').get()?.['agent_config']),
  );
  books.statement('UPDATE jobs SET agent_config = ?').run(JSON.stringify(configuration));
  books.close();
});
let configuration: object = {};
const RUNNING = { jobId: 'running', date: '2025-01-07' };

const at = (second: number) => `2020-02-01T00:00:${String(second).padStart(2, '0')}.000Z`;

function say(database: Database, id: number, message: LogMessage, firstIndex: number): void {
  appendMessages(database, id, { firstIndex, messages: [message], timestamp: at(3) });
}

/** Starts a model-day from 10,000 dollars. */
function begin(database: Database, modelDay: ModelDay): number {
  const id = insertSession(database, modelDay, {
    ...{ startedFrom: null, initialCash: money(1e8), paysDividends: false, morningWrite: 1 },
    startedAt: at(3),
  });
  say(database, id, { role: 'system', content: 'Trade.' }, 0);
  say(database, id, { role: 'user', content: 'Prices.' }, 1);
  say(database, id, { role: 'assistant', content: 'I wait.' }, 2);
  return id;
}

function idOf(database: Database, { jobId, model, date }: ModelDay): number {
  const sql =
    'SELECT session_id FROM trading_sessions WHERE job_id = ? AND model = ? AND date = ? ORDER BY 1 DESC';
  return Number(database.statement(sql).get(jobId, model, date)?.['session_id']);
}

function complete(database: Database, modelDay: ModelDay): void {
  const session = { ...modelDay, sessionId: idOf(database, modelDay), steps: 1, totalMessages: 4 };
  say(database, session.sessionId, { role: 'assistant', content: 'done' }, 3);
  const [cash, dailyProfit] = [money(1e8), money(0)];
  const none = { symbol: null, amount: null, price: null, dailyReturnPct: 0, dailyProfit };
  const position = { actionId: 1, actionType: 'no_trade' as const, holdings: new Map(), ...none };
  commitSession(database, session, {
    positions: [{ ...position, cash, portfolioValue: cash }],
    decisions: [NO_TRADE],
    evidence: { prices: [], splits: [], dividends: [], exchanges: [] },
    ...{
      toolUsage: [],
      summary: 'done',
      note: null,
      confidence: null,
      isUnread: false,
      unfilled: [],
    },
    ...{ wording: 1, commitWrite: 1 },
    completedAt: at(6),
  });
}

function goOn(database: CommandDatabase): void {
  const modelDay = { jobId: 'running', model: 'model-c', date: '2025-01-08' };
  begin(database, modelDay);
  complete(database, modelDay);
}

function fail(database: CommandDatabase): void {
  const modelDay = { ...RUNNING, model: 'model-d' };
  endModelDay(database, modelDay, { status: 'failed', error: 'broken', completedAt: at(7) });
}

function replaceDay(database: CommandDatabase): void {
  database
    .statement(`UPDATE jobs SET status = 'partial', completed_at = ? WHERE job_id = 'running'`)
    .run(at(8));
  const date = '2025-01-06';
  insertTestJob(database, {
    ...{ jobId: 'later', startDate: date, endDate: date, dates: [date], replaceExisting: true },
    runs: ['model-b', 'model-0'].map((model) => ({ model, startDate: date, family: 'another' })),
    ...{ agentConfig: configuration, createdAt: at(9), warnings: ['!'] },
  });
  const modelDay = { jobId: 'later', model: 'model-b', date };
  begin(database, modelDay);
  complete(database, modelDay);
}

function importPrices(database: CommandDatabase): void {
  const set = `UPDATE price_data SET close = 55 WHERE symbol = 'AAPL' AND date >= '2025-01-06'`;
  database.statement(set).run();
  const bar = `INSERT INTO price_data (symbol, date, open, close, source) VALUES (?, '2025-01-09', 1, 1, 'csv')`;
  for (const symbol of ['AAPL', 'ZZZZ']) database.statement(bar).run(symbol);
  const span = `INSERT INTO price_data_coverage (symbol, start_date, end_date, source, recorded_at)
    VALUES ('AAPL', '2025-01-02', '2025-01-09', 'csv', ?)`;
  database.statement(span).run(at(10));
  const dividend = `INSERT INTO dividends (symbol, ex_date, cash_e6, basis) VALUES ('AAPL', '2025-01-08', 5, 'as_paid')`;
  database.statement(dividend).run();
}

/** What other programs and the service itself may do, each in a transaction. */
const EVENTS: readonly ((database: CommandDatabase) => void)[] = [
  (database) => complete(database, { ...RUNNING, model: 'model-c' }),
  goOn,
  fail,
  replaceDay,
  importPrices,
];

/** All responses that are read from the database. */
const REQUESTS: readonly string[] = [
  '/results',
  '/results?format=csv',
  '/results?model=model-c',
  '/reasoning',
  '/reasoning?include_full_conversation=true',
  '/reasoning?job_id=running&include_full_conversation=true',
  '/simulate/status/running',
  '/jobs',
  '/jobs?status=running',
  '/performance?benchmark=AAPL',
  '/performance?benchmark=universe&details=true',
  '/performance?days=clean&common=true',
  '/performance?models=model-a,family',
  '/performance?format=csv',
  '/performance?format=csv&table=trades',
  '/performance?format=csv&table=actions&common=true',
  '/holdings?model=model-b',
  '/holdings?model=model-b&format=csv',
  '/comparison?models=model-a,model-b',
  '/comparison?format=csv&models=model-a,model-b',
  '/comparison?format=csv&table=pairs&models=model-a,model-b',
  '/decisions',
  '/decisions?models=family,model-b',
  '/decisions?kind=failure',
  '/decisions?symbol=AAPL',
  '/search?q=done',
  '/search?q=done&limit=1',
  '/search?q=wait&models=family',
  '/models',
  '/prices/coverage',
  '/prices/coverage?symbol=AAPL',
  '/prices/coverage?date=2025-01-09',
];

function startBench(t: TestContext): Bench {
  const folder = temporaryFolder();
  let [copies, statements] = [0, 0];
  let current: CommandDatabase | undefined;
  t.after(() => current?.close());
  const find = createRouter(routes);
  const view = { jobs: null, agentDays: null, viewedFile: null, isFixed: false };
  const settings = { ...readSettings({}), configurationPath: join(folder, 'none.json') };
  const bench: Bench = {
    onStatement: () => {},
    statements: () => statements,
    renew() {
      current?.close();
      const path = join(folder, `${(copies += 1)}.db`);
      copyFileSync(template, path);
      current = openDatabase(path, { durability: 'process-end' });
      statements = 0;
      return current;
    },
    textOf(request) {
      assert(current !== undefined);
      const moment = openMoment({ path: current.path, shown: null });
      const statement: Database['statement'] = (...args) => {
        bench.onStatement((statements += 1));
        return moment.statement(...args);
      };
      const [path = '', search = ''] = request.split('?');
      const match = find('GET', path);
      assert(match !== null && 'params' in match);
      const { route, params } = match;
      const database = { ...moment, statement };
      const rest = {
        clock: () => new Date(),
        log: silentLog,
      };
      try {
        const query = validateQuery(route.query, search);
        const format = search.includes('format=csv') ? 'csv' : 'json';
        const input = { params, query, format, body: null, headers: {}, token: null } as const;
        const body = route.handle({ database, settings, ...view, ...rest }, input);
        assert(isReady(body));
        return `200 ${[...bodyPieces(body).pieces].join('')}`;
      } catch (error) {
        const refusal = toHttpError(error);
        if (refusal === null) throw error;
        return `${refusal.status} ${refusal.message}`;
      } finally {
        moment.close();
      }
    },
  };
  bench.renew();
  return bench;
}

for (const request of REQUESTS) {
  test(`GET ${request} is of the moment of its first statement, whatever is committed after it`, (t) => {
    const bench = startBench(t);
    const expected = bench.textOf(request);
    assert.match(expected, /^(200|422) /);
    const count = bench.statements();
    assert.ok(count > 0);
    const happen = (database: CommandDatabase) =>
      EVENTS.forEach((event) => database.transaction(() => event(database)));
    const later = bench.renew();
    happen(later);
    // Everything that happens changes this response, so that a response of two moments cannot look
    // like one of the first.
    assert.notEqual(bench.textOf(request), expected);
    for (let place = 2; place <= count; place += stepFor(count)) {
      const other = bench.renew();
      bench.onStatement = (number) => void (number === place && happen(other));
      const what = `all happens before statement ${place} of ${count}`;
      assert.equal(bench.textOf(request), expected, what);
      bench.onStatement = () => {};
    }
    const [other, rest] = [bench.renew(), [...EVENTS]];
    bench.onStatement = (number) => {
      const event = number > 1 ? rest.shift() : undefined;
      if (event) other.transaction(() => event(other));
    };
    assert.equal(bench.textOf(request), expected, 'something happens before every statement');
  });
}
/** Few statements are tried one by one; of many a part, the second always. */
const stepFor = (count: number) => Math.ceil(count / runs(3, 60));

function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

test('a response of the serving thread is of one moment too, and cannot write', (t) => {
  const database = startBench(t).renew();
  const other = openDatabase(database.path);
  t.after(() => other.close());
  const count = (reader: Database) =>
    reader.statement('SELECT count(*) AS count FROM jobs').get()?.['count'];
  database.read((moment) => {
    const before = count(moment);
    other.statement(`UPDATE jobs SET status = 'failed', completed_at = 't'`).run();
    other.statement('DELETE FROM idempotency_keys').run();
    const statuses = moment.statement('SELECT DISTINCT status FROM jobs').all().length;
    assert.ok(statuses > 1, 'as it was');
    assert.equal(count(moment), before);
  });
  database.read((moment) =>
    assert.equal(moment.statement('SELECT DISTINCT status FROM jobs').all().length, 1),
  );
  const write = () => database.statement('DELETE FROM reasoning_logs').run();
  assert.throws(() => database.read(write), /readonly/);
  assert.ok(database.statement('SELECT 1 FROM reasoning_logs').get(), 'it is still there');
  assert.ok(Number(write().changes) > 0, 'others can write again');
  assert.equal(database.statement('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy'], 0);
});

test('no GET writes, whatever it reads: neither the database nor a file beside it changes', (t) => {
  const bench = startBench(t);
  const database = bench.renew();
  const other = openDatabase(database.path);
  t.after(() => other.close());
  const state = () => ({
    version: other.statement('PRAGMA data_version').get(),
    changes: database.statement('SELECT total_changes()').get(),
    files: ['', '-wal'].map((suffix) => hashOf(readFileSync(database.path + suffix))),
  });
  const before = state();
  for (const request of REQUESTS) assert.match(bench.textOf(request), /^200 /, request);
  assert.deepEqual(state(), before);
  const moment = openMoment({ path: database.path, shown: null });
  t.after(() => moment.close());
  const write = () => moment.statement('DELETE FROM reasoning_logs').run();
  assert.throws(write, /attempt to write a readonly database/);
});
