import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import fc from 'fast-check';
import { backupDatabase } from '../../src/features/backup/backup.ts';
import { type CommandDatabase, openDatabase } from '../../src/core/database/database.ts';
import { searchLogs } from '../../src/core/database/records/session-records.ts';
import { appendMessages } from '../../src/core/database/sessions.ts';
import { packageJob } from '../../src/features/backup/backup-command.ts';
import { parsePhrases } from '../../src/core/database/search-text.ts';
import { fourDays } from '../support/books.ts';
import { runs } from '../support/long.ts';
import { emptyTables, rowsAsText } from '../support/tables.ts';
import { temporaryFolder } from '../support/folder.ts';

/**
 * The index of words: whatever happens to the logs, a search finds what reading all of them finds.
 */

const MODELS = ['a', 'b'];
const DATES = ['2025-01-06', '2025-01-07'];
const WORDS = ['apple', 'cash', 'hold', '苹果', 'the'];
const INDEX_CHECK = `INSERT INTO log_words (log_words) VALUES ('integrity-check')`;

const anyText = fc
  .array(fc.constantFrom(...WORDS), { maxLength: 6 })
  .map((words) => words.join(' '));
const small = fc.nat({ max: 9 });
const type = <Name extends string>(name: Name) => fc.constant(name);
const anyOpening = fc.record({
  type: type('open'),
  model: fc.constantFrom(...MODELS),
  date: fc.constantFrom(...DATES),
});
const someTexts = fc.array(anyText, { minLength: 1, maxLength: 3 });
const anySaying = fc.record({ type: type('say'), session: small, texts: someTexts });
const anyEnd = fc.record({ type: type('end'), session: small, fails: fc.boolean() });
const anySearch = fc.record({
  type: type('search'),
  words: fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 2 }),
  longestMs: fc.constantFrom(-1, undefined),
});
const anyEvent = fc.oneof(
  { weight: 2, arbitrary: anyOpening },
  { weight: 6, arbitrary: anySaying },
  { weight: 2, arbitrary: anyEnd },
  { weight: 4, arbitrary: anySearch },
  { weight: 1, arbitrary: fc.record({ type: type('vacuum') }) },
  { weight: 1, arbitrary: fc.record({ type: type('remove'), session: small }) },
);
type Event = typeof anyEvent extends fc.Arbitrary<infer One> ? One : never;

const open = { type: 'open', model: 'a', date: '2025-01-06' } as const;
const say = (...texts: string[]) => ({ type: 'say', session: 0, texts }) as const;
const end = { type: 'end', session: 0, fails: false } as const;
const remove = { type: 'remove', session: 0 } as const;
/**
 * Histories that once misled the index: rows that are used again after their messages were removed,
 * by themselves and beside old ones.
 */
const vacuum = { type: 'vacuum' } as const;
const [one, two] = [say('apple'), say('apple', 'cash')];
const HARD: Event[][] = [
  [open, two, end, remove, open, say('cash', 'apple', ''), end, vacuum],
  [open, one, end, open, two, end, remove, vacuum, open, say('cash'), end],
];

function prepare(database: CommandDatabase): void {
  emptyTables(database);
  const job = `INSERT INTO jobs (job_id, status, start_date, end_date, dates, replace_existing, agent_config, deployment_mode, created_at)
    VALUES ('j', 'running', ?, ?, ?, 1, '{}', 'PROD', 't')`;
  database.statement(job).run(...DATES, JSON.stringify(DATES));
  MODELS.forEach((model, index) => {
    const run = `INSERT INTO simulation_runs (job_id, model, model_index, start_date, created_at, entry, family) VALUES ('j', ?, ?, ?, 't', '{}', ?)`;
    database.statement(run).run(model, index, DATES[0] as string, model);
    for (const date of DATES)
      database
        .statement(`INSERT INTO job_details (job_id, date, model) VALUES ('j', ?, ?)`)
        .run(date, model);
  });
}

const rowsOf = (database: CommandDatabase, sql: string, ...values: (string | number)[]) =>
  database
    .statement(sql)
    .all(...values)
    .map((row) => Object.values(row) as any[]); // any: each query has columns of its own

/** The sessions that are open, by their number among them; undefined when there is none. */
function openOne(database: CommandDatabase, number: number): any[] | undefined {
  const all = rowsOf(
    database,
    `SELECT session_id, model, date FROM trading_sessions WHERE status = 'running' ORDER BY session_id`,
  );
  return all[number % all.length];
}

async function apply(database: CommandDatabase, event: Event): Promise<void> {
  const run = (sql: string, ...values: (string | number)[]) =>
    database.statement(sql).run(...values);
  const ENDED = `UPDATE trading_sessions SET completed_at = 't', status =`;
  if (event.type === 'open') {
    const { model, date } = event;
    run(
      `INSERT OR IGNORE INTO trading_sessions (job_id, date, model, initial_cash_e4, started_at, wording) VALUES ('j', ?, ?, 5, 't', 1)`,
      date,
      model,
    );
  } else if (event.type === 'say') {
    const [id] = openOne(database, event.session) ?? [];
    if (id === undefined) return;
    const count = 'SELECT count(*) FROM reasoning_logs WHERE session_id = ?';
    const [[firstIndex] = [0]] = rowsOf(database, count, id);
    const messages = event.texts.map((content) => ({ role: 'assistant' as const, content }));
    const said = { firstIndex, messages, timestamp: 't' };
    database.transaction(() => appendMessages(database, id, said));
  } else if (event.type === 'end') {
    const [id, model, date] = openOne(database, event.session) ?? [];
    if (id === undefined) return;
    if (event.fails) return void run(`${ENDED} 'failed', error = 'e' WHERE session_id = ?`, id);
    const active = `model = ? AND date = ? AND status = 'active'`;
    run(`${ENDED} 'superseded' WHERE ${active}`, model, date);
    run(`${ENDED} 'active' WHERE session_id = ?`, id);
  } else if (event.type === 'vacuum') run('VACUUM');
  else if (event.type === 'remove') {
    const sessions = `SELECT session_id FROM trading_sessions WHERE status <> 'running' ORDER BY 1`;
    const ended = rowsOf(database, sessions);
    const [id] = ended[event.session % ended.length] ?? [];
    if (id !== undefined) run('DELETE FROM reasoning_logs WHERE session_id = ?', id);
  }
}

/** What reading all messages finds, newest first. */
function scanned(database: CommandDatabase, words: readonly string[]): string[] {
  return rowsOf(
    database,
    `SELECT session_id, message_index, content FROM reasoning_logs JOIN trading_sessions AS own USING (session_id)
     WHERE status = 'active' OR (status <> 'superseded' AND NOT EXISTS (SELECT 1 FROM trading_sessions AS done
       WHERE done.model = own.model AND done.date = own.date AND done.status = 'active'))
     ORDER BY log_id DESC`,
  )
    .filter(([, , content]) => words.every((word) => content.split(' ').includes(word)))
    .map(([session, index]) => `${session} ${index}`);
}

async function searched(
  database: CommandDatabase,
  words: readonly string[],
  limit: number,
  options: { longestMs?: number } = {},
): Promise<string[]> {
  const found: string[] = [];
  for (let before: number | null | undefined; before !== null; ) {
    const page = searchLogs(
      database,
      { phrases: parsePhrases(words.join(' ')), filters: {}, limit, before },
      options.longestMs,
    );
    found.push(...page.messages.map((one) => `${one.session_id} ${one.message_index}`));
    before = page.nextBefore;
  }
  return found;
}

test('whatever is logged, committed, replaced, removed or vacuumed, a search finds what a scan finds', async (t) => {
  const database = openDatabase(':memory:');
  t.after(() => database.close());
  let found = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyEvent, { minLength: 20, maxLength: 50 }),
      fc.integer({ min: 1, max: 5 }),
      async (events, limit) => {
        prepare(database);
        const last = { type: 'search' as const, words: ['apple'], longestMs: undefined };
        for (const event of [...events, last]) {
          if (event.type !== 'search') {
            await apply(database, event);
            continue;
          }
          const expected = scanned(database, event.words);
          found += expected.length;
          const options = event.longestMs === undefined ? {} : { longestMs: event.longestMs };
          assert.deepEqual(await searched(database, event.words, limit, options), expected);
        }
        database.statement(INDEX_CHECK).run();
      },
    ),
    { numRuns: runs(40, 2_000), examples: HARD.map((events) => [events, 1]) },
  );
  assert.ok(found > 100, `the searches found ${found} messages`);
});

const copies: [
  name: string,
  make: (path: string, target: string) => Promise<unknown>,
  messages: number,
  jobId?: string,
][] = [
  ['backup', backupDatabase, 5],
  ['package', (path, target) => packageJob({ path, jobId: 'job-1', target }), 2, 'job-1'],
];
for (const [name, make, messages, jobId] of copies)
  test(`a ${name} has the index of its database, and SQLite finds it sound`, async () => {
    const folder = temporaryFolder();
    const [path, copy] = [join(folder, 'jobs.db'), join(folder, 'copy.db')];
    const database = (await fourDays(path)).database as CommandDatabase;
    const phrases = parsePhrases('executed');
    const search = { phrases, filters: { jobId }, limit: 9, before: undefined };
    const found = searchLogs(database, search);
    assert.equal(found.messages.length, messages);
    await make(path, copy);
    const copied = openDatabase(copy);
    assert.deepEqual(searchLogs(copied, search), found);
    for (const one of [database, copied]) {
      assert.deepEqual(rowsAsText(one, 'PRAGMA integrity_check'), ['ok']);
      one.statement(INDEX_CHECK).run();
      one.close();
    }
  });

test('SQLite without FTS5 finds a database with the index sound, copies it and adds to its logs', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'jobs.db');
  const database = (await fourDays(path)).database as CommandDatabase;
  await searched(database, ['executed'], 9);
  database.close();
  // As it looks to a program that has no module of this name.
  const other = new DatabaseSync(path);
  other.enableDefensive(false);
  other.exec(
    `PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'fts5', 'fts9') WHERE name = 'log_words'; PRAGMA writable_schema = RESET`,
  );
  other.close();
  const without = new DatabaseSync(path);
  assert.throws(() => without.exec('SELECT * FROM log_words'), /no such module: fts9/);
  assert.deepEqual(
    { ...without.prepare('PRAGMA integrity_check').get() },
    { integrity_check: 'ok' },
  );
  without.exec(
    `INSERT INTO reasoning_logs (session_id, message_index, role, content, timestamp) VALUES (1, 90, 'user', 'u', 't'); VACUUM`,
  );
  without.prepare('VACUUM INTO ?').run(join(folder, 'copy.db'));
  without.close();
});

test('a message is found as soon as it is logged, and a search writes nothing', async (t) => {
  const database = (await fourDays()).database as CommandDatabase;
  t.after(() => database.close());
  const messages = [{ role: 'assistant' as const, content: 'Zebras are not listed.' }];
  const [[count]] = rowsOf(
    database,
    'SELECT count(*) FROM reasoning_logs WHERE session_id = 4',
  ) as [[number]];
  const log = () => appendMessages(database, 4, { firstIndex: count, messages, timestamp: 't' });
  const undo = () => {
    log();
    throw new Error('undone');
  };
  assert.throws(() => database.transaction(undo), /undone/);
  const none = await searched(database, ['zebras'], 9);
  assert.deepEqual(none, [], 'nor is one whose transaction was rolled back');
  database.transaction(log);
  const changes = rowsOf(database, 'SELECT total_changes()');
  assert.deepEqual(await searched(database, ['zebras'], 9), [`4 ${count}`]);
  assert.deepEqual(rowsOf(database, 'SELECT total_changes()'), changes);
});
