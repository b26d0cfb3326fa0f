import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { progressBar } from '../../src/core/commands/terminal.ts';
import { assertLike, like } from '../support/text-table.ts';
import { fourDays } from '../support/books.ts';
import { staleNow } from '../support/stale.ts';
import { openDatabase } from '../../src/core/database/database.ts';
import { hostileStrings } from '../support/hostile.ts';
import { runInProcess } from '../support/in-process.ts';
import { listenHere } from '../support/loopback.ts';
import { installProgram } from '../support/program.ts';

/** Imports files of these contents. */
function importing(cwd: string, files: Record<string, string | Buffer>, ...options: string[]) {
  for (const [name, content] of Object.entries(files)) writeFileSync(join(cwd, name), content);
  return runInProcess(['import-prices', ...options, ...Object.keys(files)], { cwd });
}

const BARS = 'symbol,date,open,close\n';

test('text in a file cannot control the terminal', async () => {
  const texts = hostileStrings.map(({ text }) => text).filter((text) => text.length < 1_000);
  const cells = texts.map((text) => `"${text.replaceAll('"', '""').replaceAll('\n', '')}"`);
  const rows = cells.flatMap((cell) => [
    `${cell},2025-01-06,1,1`,
    `AAPL,${cell},1,1`,
    `AAPL,2025-01-06,${cell},1`,
  ]);
  const columns = cells.map((cell) => cell.replaceAll(',', '')).join(',');
  const others = ',x'.repeat(cells.length);
  const { stdout, stderr } = await importing(installProgram(), {
    'prices.csv': `${BARS}${rows.join('\n')}\n`,
    'columns.csv': `date,open,close,${columns}\n2025-01-06,1,1${others}\n2025-01-06,2,1${others}\n`,
    'refusal.json': JSON.stringify({ 'Error Message': texts.join(' ') }),
  });
  assert.match(stderr, /prices\.csv:2: refused, /);
  const conflict = /columns\.csv: CSV\n[^]* {2}refused 2 rows: another row has different prices/;
  assert.match(stdout, conflict);
  assert.match(stderr, /refusal\.json: it holds the provider's message/);
  assert.doesNotMatch((stdout + stderr).replaceAll('\n', ''), /\p{Cc}|\p{Bidi_Control}/u);
});

test('a file that cannot be imported is exit code 1, and the others are stored', async () => {
  const cwd = installProgram();
  const bad = Array.from({ length: 25 }, (_, index) => `AAPL,0000-01-${10 + (index % 20)},1,1\n`);
  const text = `${BARS}${bad.join('')}AAPL,soon,1,1\nAAPL,2025-01-06,1,1\n`;
  writeFileSync(join(cwd, 'good.csv'), text);
  const args = ['import-prices', 'good.csv', 'missing.csv'];
  const { code, stdout, stderr } = await runInProcess(args, { cwd });
  assert.equal(code, 1);
  assert.match(stderr, /Cannot import missing\.csv: there is no such file or folder/);
  assert.match(
    stdout,
    /imported 1 bar .*\n {2}prices treated as .*\n {2}refused 25 rows: a date before 1900-01-01\n {2}refused 1 row: not a date/,
  );
  const told = stderr.split('\n').filter((line) => line.startsWith('good.csv'));
  assert.equal(told.length, 22);
  assert.deepEqual(told.slice(19), [
    'good.csv:21: refused, a date before 1900-01-01: "0000-01-29"',
    'good.csv: further rows refused for this reason are only counted: a date before 1900-01-01',
    'good.csv:27: refused, not a date YYYY-MM-DD: "soon"',
  ]);
});

test('dividends are imported beside prices, and those in other currencies are warned of, twenty times at most', async () => {
  const days = Array.from({ length: 25 }, (_, index) => `ENB,2024-01-${10 + (index % 12)}`);
  const foreign = days.map((day) => `${day},0.915,CAD\n`).join('');
  const own = 'AAPL,2024-05-10,0.25,USD\nENB,2024-01-05,0.1,\nENB,2024-05-14,0.1,\n';
  const { code, stdout, stderr } = await importing(installProgram(), {
    'good.csv.gz': gzipSync(`${BARS}AAPL,2024-05-10,1,1\n`),
    'dividends.csv': `symbol,ex_date,amount,currency\n${own}${foreign}`,
    'none.json': '{"symbol": "BRK-B", "data": []}',
  });
  assert.equal(code, 1);
  const unknown = days.slice(0, 10).map((day) => day.replace(',', ' '));
  assert.match(
    stdout,
    like(`good.csv.gz: CSV
  imported 1 bar (1 new or changed) of 1 symbol on 1 date, 2024-05-10 to 2024-05-10: AAPL
  prices treated as split-adjusted (…); …--as raw or --as total-return
dividends.csv: CSV of dividends
  imported 3 dividends (3 new, changed or removed) of 2 symbols, ex-dates 2024-01-05 to 2024-05-14
  dividends are unknown on 12 ex-dates…: ${unknown.join(', ')} and 2 more
  refused 25 rows: not in USD
Stored in data/jobs.db, the database of PROD mode.
`),
  );
  assert.equal(stderr.trim().split('\n').length, 22);
  assert.match(stderr, /^dividends\.csv:5: refused, not in USD: "CAD"\n/);
});

test('the summary names up to ten symbols, and says what the prices were taken as, why, and how to say otherwise', async () => {
  const cwd = installProgram();
  const bars = [...'ABCDEFGHIJKL'].map(
    (letter) => `S${letter},2024-05-09,400,400,0\nS${letter},2024-05-10,100,100,4\n`,
  );
  const yahoo = 'Symbol,Date,Open,Close,Adj_Close\nZ,2024-05-09,400,400,4\n';
  const split = `symbol,date,open,close,split_factor\n${bars.join('')}`;
  const { code, stdout } = await importing(cwd, { 'split.csv': split, 'yahoo.csv': yahoo });
  assert.equal(code, 0);
  const lines = `split.csv: CSV
  imported 24 bars (24 new or changed) of 12 symbols on 2 dates, 2024-05-09 to 2024-05-10: SA, SB, SC, SD, SE, SF, SG, SH, SI, SJ and 2 more
  and 0 dividends and 12 splits
  prices treated as raw (…SA split 4:1 on 2024-05-10, and closed at 400 on 2024-05-09 and at 100 on 2024-05-10); …--as split-adjusted or --as total-return
yahoo.csv: Yahoo CSV
  imported 1 bar (1 new or changed) of 1 symbol on 1 date, 2024-05-09 to 2024-05-09: Z
  prices treated as split-adjusted (…Yahoo CSV); …--as raw or --as total-return
`;
  assert.match(stdout, like(`${lines}…`));
  const said = await importing(cwd, { 'yahoo.csv': yahoo }, '--as', 'total-return');
  assert.match(
    said.stdout,
    /imported 1 bar \(1 new or changed\)[^]* {2}prices treated as total-return \(by --as\); /,
  );
  const wrong = await importing(cwd, { 'yahoo.csv': yahoo }, '--as', 'adjusted');
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /--as is one of raw, split-adjusted, total-return, not "adjusted"/);
});

test('an import that brings a split names the stored prices that it contradicts', async () => {
  const cwd = installProgram();
  await importing(cwd, { 'A.csv': 'date,open,close\n2024-05-09,400,400\n' });
  const split = 'date,open,close,stock splits\n2024-05-10,100,100,4\n';
  const { stdout } = await importing(cwd, { 'A.csv': split });
  assert.match(
    stdout,
    /\n {2}Prices of A are stored as split-adjusted, which a split contradicts: A split 4:1 on 2024-05-10, and closed at 400 .*--as raw\n/,
  );
});

/**
 * What a name of a file, a setting or a value may be: the end of one order to a terminal, and a
 * mark of writing direction.
 */
const EVIL = 'x\u009b2J\u061c';
const named: [command: string, code: number, env?: Record<string, string>][] = [
  [`import-prices ${EVIL}.csv`, 0],
  [`import-prices ${EVIL}`, 1],
  [`backup ${EVIL}`, 0],
  [`backup none/${EVIL}`, 1],
  [`check ${EVIL}`, 0],
  [`check none/${EVIL}`, 1],
  [`merge-config ${EVIL}.json`, 0],
  [`merge-config ${EVIL}`, 1],
  ['check', 1, { DEPLOYMENT_MODE: EVIL }],
];
test('names on the command line, in settings and of a health report cannot control the terminal', async (t) => {
  const cwd = installProgram();
  writeFileSync(join(cwd, `${EVIL}.csv`), `${BARS}AAPL,2025-01-06,1,1\nAAPL,soon,1,1\n`);
  writeFileSync(join(cwd, `${EVIL}.json`), '{}');
  const health = JSON.stringify({ status: EVIL });
  const server = createServer((_request, response) => response.end(health));
  const port = String(await listenHere(t, server));
  for (const [command, code, env = {}] of [
    ...named,
    ['healthcheck', 1, { API_PORT: port }] as const,
  ]) {
    const ended = await runInProcess(command.split(' '), { cwd, env });
    const text = ended.stdout + ended.stderr;
    assert.equal(ended.code, code, text);
    assert.doesNotMatch(text.replaceAll('\n', ''), /\p{Cc}|\p{Bidi_Control}/u, command);
    assert.match(text, /x\ufffd2J\ufffd/);
  }
  assert.match(progressBar(1, 2, EVIL), /50 % x\ufffd2J\ufffd$/);
});

test('a dividend above a quarter of the close before its ex-date is a warning, in the shares of its prices', async () => {
  const bars = (symbol: string) => `${symbol},2024-05-09,100,100\n${symbol},2024-05-10,100,100\n`;
  const names = ['A', 'B', 'C', 'D', ...Array.from({ length: 11 }, (_, index) => `M${index}`)];
  const cwd = installProgram();
  await importing(cwd, { 'prices.csv': BARS + names.map(bars).join('') }, '--as', 'split-adjusted');
  const rows = ['A,2024-05-10,25.01', 'B,2024-05-10,25', 'C,2024-05-10,200', 'D,2024-07-10,90'];
  const splits = 'symbol,date,numerator,denominator\nC,2024-06-10,10,1\n';
  await importing(cwd, { 'splits.csv': splits });
  const amounts = (all: string[]) => ['symbol,ex_date,amount', ...all, ''].join('\n');
  const warned = (stdout: string) => stdout.split('\n').filter((line) => /warning|more/.test(line));
  const first = await importing(cwd, { 'dividends.csv': amounts(rows) });
  assertLike(warned(first.stdout), [
    '  warning: A …25.01 per share on 2024-05-10, above 25 % of its close of 100 on 2024-05-09…confirmed…',
  ]);
  const again = await importing(cwd, { 'prices.csv': BARS + bars('A') }, '--as', 'split-adjusted');
  assert.deepEqual(warned(again.stdout), [], 'the file has no dividend');
  const later = ['A,2024-05-10,25.01', 'A,2024-08-09,0.24'];
  const { stdout: same } = await importing(cwd, { 'dividends.csv': amounts(later) });
  assert.deepEqual(warned(same), [], 'the large one is stored already');
  const { stdout: higher } = await importing(cwd, {
    'dividends.csv': amounts(['A,2024-05-10,26', 'A,2024-08-09,0.24']),
  });
  assert.match(String(warned(higher)), /A .*26 per share on 2024-05-10/);
  const confirmed = 'symbol,ex_date,amount,confirmed\nA,2024-05-10,27,yes\n';
  assert.deepEqual(warned((await importing(cwd, { 'dividends.csv': confirmed })).stdout), []);
  const mended = await importing(cwd, { 'dividends.csv': amounts(['A,2024-05-10,0']) });
  assert.deepEqual(warned(mended.stdout), []);
  await importing(cwd, { 'dividends.csv': amounts(['LATE,2024-05-10,30']) });
  const { stdout: late } = await importing(cwd, {
    'prices.csv': `symbol,date,open,close\n${bars('LATE')}`,
  });
  assert.match(String(warned(late)), /LATE .*2024-05-10/, 'also when its prices come later');
  const { stdout: earlier } = await importing(cwd, {
    'prices.csv': `${BARS}LATE,2024-05-08,100,100\n`,
  });
  assert.deepEqual(warned(earlier), [], 'a bar before the close before it changes nothing');
  const many = names.slice(4).map((name) => `${name},2024-05-10,30`);
  const { stdout } = await importing(cwd, { 'dividends.csv': amounts(many) });
  assert.deepEqual(warned(stdout).slice(10), ['  and 1 more such dividend']);
});

test('an import says how many model-days are stale then, and nothing where none is', async () => {
  const cwd = installProgram();
  mkdirSync(join(cwd, 'data'));
  const path = join(cwd, 'data/jobs.db');
  (await fourDays(path)).database.close();
  const importAt = async (dates: readonly string[]) => {
    const rows = dates.map((date) => `AAPL,${date},1,1\n`).join('');
    return (await importing(cwd, { 'prices.csv': BARS + rows }, '--as', 'raw')).stdout;
  };
  const noted = (output: string) => /^.*stale .*$/im.exec(output)?.[0];
  const stale = () => {
    const database = openDatabase(path);
    const { length } = staleNow(database);
    database.close();
    return length;
  };
  assert.deepEqual([noted(await importAt(['2019-01-03'])), stale()], [undefined, 0]);
  const one = 'Stale now: 1 model-day (see `check`)';
  assert.deepEqual([noted(await importAt(['2025-01-03'])), stale()], [one, 1]);
  const two = 'Stale now: 2 model-days (see `check`)';
  assert.deepEqual([noted(await importAt(['2025-01-06'])), stale()], [two, 2]);
});
