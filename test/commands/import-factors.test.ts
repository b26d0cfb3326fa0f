import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
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
      'mom.CSV: 1 factor, momentum, on 1 date, 2025-09-02 to 2025-09-02; 1 return new, 0 replaced\n',
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
    'own.csv: 2 factors, market, carry, on 2 dates, 2025-09-02 to 2025-09-03; 2 returns new, 1 replaced\n',
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
