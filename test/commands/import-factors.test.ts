import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { weekdays } from '../../src/core/time/calendar.ts';
import { runInProcess } from '../support/in-process.ts';
import { installProgram } from '../support/program.ts';
import { like } from '../support/text-table.ts';

/** As the data library sends them, with prose around the table. */
const FIVE = `This file was created using the 202510 CRSP database.
The 1-month TBill rate data until 202405 are from Ibbotson Associates.

,Mkt-RF,SMB,HML,RMW,CMA,RF
20250902,   -0.67,    0.02,   -0.35,    0.03,    0.13,    0.017
20250903,    0.79,   -0.28,    0.28,   -0.08,   -0.21,    0.017
20250904,  -99.99,    0.10,    0.10,    0.10,    0.10,    0.017
20250905,    x,    0.10,    0.10,    0.10,    0.10,    0.017
20250908,    0.10,    0.10

Copyright 2025 Eugene F. Fama and Kenneth R. French
`;
const MOMENTUM =
  'Momentum, daily\r\n\r\n,Mom   \r\n20250902,    0.43\r\n20250903,   -999\r\n\r\nCopyright\r\n';

test('import-factors reads the files of the data library, and says what it replaced and refused', async (t) => {
  const cwd = installProgram();
  const env = { DEPLOYMENT_MODE: 'DEV', PRESERVE_DEV_DATA: 'true' };
  const write = (name: string, text: string) => writeFileSync(join(cwd, name), text);
  write('five.CSV', FIVE);
  write('mom.CSV', MOMENTUM);
  const run = (...args: string[]) => runInProcess(['import-factors', ...args], { cwd, env });
  const first = await run('five.CSV', 'mom.CSV');
  assert.equal(first.code, 0);
  assert.equal(
    first.stdout,
    'five.CSV: 6 factors, market, size, value, profitability, investment, risk_free, on 3 dates, 2025-09-02 to 2025-09-04; 17 returns new, 0 replaced\n' +
      '  its returns are read as percentages: the largest, up or down, is 0.79 % (market on 2025-09-03); if they are fractions, import the file again with --unit fraction\n' +
      'mom.CSV: 1 factor, momentum, on 1 date, 2025-09-02 to 2025-09-02; 1 return new, 0 replaced\n' +
      '  its returns are read as percentages: the largest, up or down, is 0.43 % (momentum on 2025-09-02); if they are fractions, import the file again with --unit fraction\n',
  );
  assert.equal(
    first.stderr,
    'five.CSV:8: refused, market is not a plausible daily return in percent: "x"\n' +
      'five.CSV:9: refused, not 6 factors\n',
  );
  write('own.csv', 'date,market,carry\n2025-09-02,-0.0067,0.001\n2025-09-03,0.008,0.002\n');
  const again = await run('--unit', 'fraction', 'own.csv');
  assert.equal(
    again.stdout,
    'own.csv: 2 factors, market, carry, on 2 dates, 2025-09-02 to 2025-09-03; 2 returns new, 1 replaced\n' +
      '  its returns are read as fractions: the largest, up or down, is 0.8 % (market on 2025-09-03); if they are percentages, import the file again with --unit percent\n',
  );
  assert.match((await run('five.CSV')).stdout, /0 returns new, 1 replaced/);
  assert.match((await run('five.CSV')).stdout, /0 returns new, 0 replaced/);
  const database = new DatabaseSync(join(cwd, 'data/jobs_dev.db'), { readOnly: true });
  t.after(() => database.close());
  const market = database
    .prepare(`SELECT value, source FROM factors WHERE factor = 'market'`)
    .all();
  const found = market.map(({ value, source }) => `${value} ${source}`).sort();
  assert.deepEqual(found, ['-0.0067 five.CSV', '0.0079 five.CSV']);
});

const tooMany = Array.from({ length: 21 }, (_none, index) => `f${index}`).join();
/** A file, what is wrong with it, and options. */
const wrong: [text: string, says: string, options?: string][] = [
  ['hello', 'it has no table of factors: a header, and rows of a date'],
  ['date,a,a\n2025-09-02,1,1', 'its header has two columns of one factor'],
  ['date,a,\n2025-09-02,1,1', 'its header has no name of 1 to 50 printable characters for each'],
  ['date,a\n2025-09-02,1,1', 'its header has 1 factor'],
  ['2025-09-02,1', 'its header has 0 factors, and its first row 1'],
  ['date,a\n2025-09-02,1', '--unit is one of percent, fraction, not "bps"', '--unit bps'],
  [
    `date,${tooMany}\n2025-09-02${',1'.repeat(21)}`,
    'would be 21 factors, and at most 20 are stored',
  ],
];
test('a file that has no factors is refused with what is wrong', async () => {
  const cwd = installProgram();
  for (const [text, says, options = ''] of wrong) {
    writeFileSync(join(cwd, 'wrong.csv'), `${text}\n`);
    const args = ['import-factors', ...options.split(' ').filter(Boolean), 'wrong.csv'];
    const { code, stderr } = await runInProcess(args, { cwd, env: { DEPLOYMENT_MODE: 'DEV' } });
    assert.notEqual(code, 0);
    assert.match(stderr, like(`Cannot …${says}…`));
  }
});

const days = weekdays('2025-01-06', '2025-02-03').slice(0, 20);
const daily = (value: (index: number) => string, head = 'date,a') =>
  [head, ...days.map((day, index) => `${day},${value(index)}`), ''].join('\n');
const FRACTIONS = '  warning: no return of a factor reaches 0.2 %, so they may be fractions\n';
/** Nothing is refused. */
const NONE = 'none';
/** A file, its exit code, what is printed of it (⏎ ends a line), and what is refused. */
const odd: [text: string, code: number, prints: string, refuses: string][] = [
  [
    'date,1,2\n2025/01/02,n/a,0.1\n2025-01-03,0.7,0.2\n2025/01/06,,0.1\n',
    0,
    '…2 factors, 1, 2, on 1 date, …',
    '2: refused, not a date YYYYMMDD or YYYY-MM-DD: "2025/01/02"',
  ],
  [
    'date,a\n1800-01-01,0.1\n2025-01-02,0.3\n',
    0,
    '…1 factor, a, on 1 date…',
    '2: refused, not a date YYYYMMDD or YYYY-MM-DD: "1800-01-01"',
  ],
  [
    'date,a\n2025-01-02,0.1\n2025-13-01,0.3\n',
    0,
    '…1 factor, a, on 1 date…',
    '3: refused, not a date YYYYMMDD or YYYY-MM-DD: "2025-13-01"',
  ],
  ['soon,0.1\n2025-01-02,0.1\n', 1, '', ''],
  [
    'date,a,b\n,0.1,0.2\n2025-01-03,0.7,0.2\n',
    0,
    '…2 factors, a, b, on 1 date…',
    '2: refused, not a date YYYYMMDD or YYYY-MM-DD: ""',
  ],
  [
    'caldt,a\nDate?,0.5\n2025-01-03,0.7\n',
    0,
    '…1 factor, a, on 1 date…',
    '2: refused, not a date YYYYMMDD or YYYY-MM-DD: "Date?"',
  ],
  [
    'date,a,b\nThu 2025-01-02,n/a,0.1\n2025-01-03,0.7,0.2\n',
    0,
    '…2 factors, a, b, on 1 date…',
    '2: refused, not a date YYYYMMDD or YYYY-MM-DD: "Thu 2025-01-02"',
  ],
  ['date,a\nsoon,n/a\n2025-01-03,0.7\n', 0, '…1 factor, a, on 1 date…', NONE],
  ['Day,1,2\n2025-01-03,0.7,0.2\n', 0, '…2 factors, 1, 2, on 1 date…', NONE],
  ['Prices, daily\n\ntimestamp,a\n2025-01-03,0.7\n', 0, '…1 factor, a, on 1 date…', NONE],
  ['timestamp,1,2\n2025-01-03,0.7,0.2\n', 0, '…2 factors, 1, 2, on 1 date…', NONE],
  ['A, b\n5 factors, daily returns\n,a\n2025-01-03,0.7\n', 0, '…1 factor, a, on…', NONE],
  ['2025-01-03\n', 1, '', ''],
  [
    'date,a\n2025-01-02,0.1\n2025-01-03,1\n2025-01-02,0.2\n2025-01-03,1.0\n',
    0,
    '…on 1 date, 2025-01-03 to 2025-01-03; 1 return new…',
    '2: refused, other returns of 2025-01-02 are in the file too, on lines 2, 4',
  ],
  [
    'date,constructor,__proto__\n2025-01-02,0.1,0.2\n',
    0,
    '…2 factors, constructor, __proto__, on 1 date…',
    '',
  ],
  [
    'date,a\n2025-01-02,x\n',
    1,
    '…on 0 dates; 0 returns new, 0 replaced\n',
    '2: refused, a is not a plausible daily return in percent: "x"',
  ],
  [daily((index) => `${index % 2 ? -0.0019 : 0.001}`), 0, `…is -0.0019 % (…\n${FRACTIONS}`, ''],
  [daily(() => '0.1,0.5', 'date,a,RF'), 0, `…is 0.1 % (a on 2025-01-06);…\n${FRACTIONS}`, ''],
  [daily((index) => `${index % 2 ? -0.0019 : 0.2}`), 0, '…is 0.2 % (…with --unit fraction\n', ''],
  [daily(() => '0.02', ',RF'), 0, '…is 0.02 % (risk_free on …with --unit fraction\n', ''],
];
for (const [index, [text, code, prints, refuses]] of odd.entries())
  test(`odd file ${index + 1} of factors says what it is`, async () => {
    const cwd = installProgram();
    writeFileSync(join(cwd, 'odd.csv'), text);
    const done = await runInProcess(['import-factors', 'odd.csv'], { cwd });
    assert.equal(done.code, code);
    assert.match(done.stdout, like(prints));
    if (refuses === NONE) assert.equal(done.stderr, '');
    else if (refuses !== '') assert.match(done.stderr, like(`odd.csv:${refuses}\n…`));
  });

test('a factor can be removed, with or without a file after it', async () => {
  const cwd = installProgram();
  writeFileSync(join(cwd, 'own.csv'), 'date,a,b\n2025-09-02,1,1\n2025-09-03,1,1\n');
  const run = (...args: string[]) => runInProcess(['import-factors', ...args], { cwd });
  await run('own.csv');
  const removed = await run('--remove', 'a');
  assert.deepEqual([removed.code, removed.stdout], [0, 'a: 2 returns removed\n']);
  const again = await run('--remove', 'a', 'own.csv');
  assert.deepEqual(
    [again.code, again.stderr],
    [1, 'Cannot remove a: it is not stored; stored factors: b\n'],
  );
  assert.match(again.stdout, /2 returns new, 0 replaced/);
  await run('--remove', 'a');
  await run('--remove', 'b');
  const last = await run('--remove', 'b');
  assert.deepEqual([last.code, last.stderr], [1, 'Cannot remove b: no factor is stored\n']);
  const none = await run();
  assert.equal(none.code, 2);
  assert.match(none.stderr, /FILE is missing/);
});
