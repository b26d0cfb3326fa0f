import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { scriptedAgent, type Script } from '../support/agents.ts';
import { assertLike } from '../support/text-table.ts';
import { runInProcess } from '../support/in-process.ts';
import { ledger, ledgerOf } from '../support/ledger.ts';
import { copyTemplate, startTestService } from '../support/service.ts';
import { temporaryFolder } from '../support/folder.ts';

/** Real exchanges, imported by the command and traded through; their prices are round. */

const HEADER = 'symbol,date,cash,into,numerator,denominator,remains';

interface RealCase {
  row: string;
  /** The trading day before it. */
  eve: string;
  /** What is bought of the old share at 50 on the eve. */
  amount: number;
  /** `SYMBOL OPEN CLOSE` on the date of the exchange. */
  after: string;
  /** What is stored on that date, without the last line, which has no trade. */
  expected: string;
}

const cases: RealCase[] = [
  {
    // $54.20 in cash for each share at the merger of 27 October 2022; NYSE suspended the share from 28
    // October on. Sources: Twitter, Inc., Form 8-K for 27 October 2022; Reuters, "Twitter shares to be
    // suspended on NYSE as Musk nears takeover", 27 October 2022.
    row: 'TWTR,2022-10-28,54.20,,,,',
    ...{ eve: '2022-10-27', amount: 10, after: '' },
    expected: 'exchange TWTR 10 54.2 => 10042 10042 32',
  },
  {
    // The same shares under another ticker symbol, from before the open of 9 June 2022 on. Source:
    // Reuters, "Meta Platforms to trade under 'META' ticker from Jun 9", 31 May 2022.
    row: 'FB,2022-06-09,,META,1,1,',
    ...{ eve: '2022-06-08', amount: 10, after: 'META 52 53' },
    expected: `exchange FB 10 0 => 9500 9500 -510
      received META 10 52 => 9500 10030 20 META:10`,
  },
  {
    // One share of GE Vernova for every four of General Electric, which trades on as GE Aerospace.
    // Fractions are paid in cash. Sources: General Electric Company, preliminary unaudited supplemental
    // consolidated financial information, Form 8-K of 2024; GE Vernova Inc., Form 10-Q for the quarter to
    // 31 March 2024, note "Subsequent events" (spin-off and first trading on 2 April 2024).
    row: 'GE,2024-04-02,,GEV,1,4,yes',
    ...{ eve: '2024-04-01', amount: 10, after: 'GE 40 41\nGEV 44 45' },
    // Two shares, and half of one at 44.
    expected: `exchange GE 0 0 => 9500 9910 -100 GE:10
      received GEV 2 44 => 9522 10022 12 GE:10 GEV:2`,
  },
  {
    // Nasdaq had suspended the share on 10 March 2023, when the bank failed, and removed it on 28 March.
    // It opened over the counter at 53 cents that day, as SIVBQ, after a last close of 106.04: who does
    // not follow it there enters 0. Source: press reports of 28 March and 8 April 2023.
    row: 'SIVB,2023-03-28,0,,,,',
    ...{ eve: '2023-03-27', amount: 10, after: '' },
    expected: 'exchange SIVB 10 0 => 9500 9500 -510',
  },
  {
    // One share of Smurfit Westrock and $5.00 in cash for each share, at the merger of 5 July 2024;
    // trading under SW began on Monday, 8 July. Sources: Smurfit Westrock plc, Form 8-K/A for 5 July
    // 2024; Smurfit Kappa, expected timetable of the combination, 13 June 2024.
    row: 'WRK,2024-07-08,5.00,SW,1,1,',
    ...{ eve: '2024-07-05', amount: 10, after: 'SW 46 47' },
    expected: `exchange WRK 10 5 => 9550 9550 -460
      received SW 10 46 => 9550 10020 10 SW:10`,
  },
  {
    // $95.00 in cash for each share at the merger of 13 October 2023, before the open. Source: Microsoft
    // Corporation, Form 8-K for 13 October 2023, item 2.01; Activision Blizzard, Inc., of the same day.
    row: 'ATVI,2023-10-13,95.00,,,,',
    ...{ eve: '2023-10-12', amount: 10, after: '' },
    expected: 'exchange ATVI 10 95 => 10450 10450 440',
  },
];

/** Imports files into the database of a service that is not started yet. */
async function importInto(folder: string, files: Record<string, string>) {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  copyTemplate(join(folder, 'data/jobs.db'));
  return runInProcess(['import-prices', ...Object.keys(files)], { cwd: folder });
}

function barsCsv(table: string): string {
  const rows = table.split('\n').filter((line) => line.trim() !== '');
  const bars = rows.map((row) => {
    const [symbol = '', date = '', open = '', close = ''] = row.trim().split(/\s+/);
    const range = [Math.max(Number(open), Number(close)), Math.min(Number(open), Number(close))];
    return [symbol, date, open, ...range, close].join();
  });
  return `symbol,date,open,high,low,close\n${bars.join('\n')}\n`;
}

for (const { row, eve, amount, after, expected } of cases)
  test(`${row}: imported, and traded through`, async (t) => {
    const [symbol = '', date = ''] = row.split(',');
    const folder = temporaryFolder();
    const onDate = after.replaceAll(/^(\w+)/gm, `$1 ${date}`);
    const prices = `${symbol} ${eve} 50 51\nSPY ${eve} 9 9\nSPY ${date} 9 9\n${onDate}`;
    const { stdout, stderr, code } = await importInto(folder, {
      'prices.csv': barsCsv(prices),
      'exchanges.csv': `${HEADER}\n${row}\n`,
    });
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(
      stdout,
      RegExp(
        `exchanges\\.csv: CSV of exchanges\n  imported 1 exchange \\(1 new, changed or removed\\) of 1 symbol, ${date} to ${date}\n`,
      ),
    );
    const script: Script = { [`a ${eve}`]: [[['buy', { symbol, amount }]]] };
    const service = await startTestService(t, {
      folder,
      settings: { databasePath: join(folder, 'data/jobs.db') },
      configuration: {
        models: [{ signature: 'a', enabled: true }],
        agent_config: { stock_symbols: [symbol, 'SPY'] },
      },
      agent: scriptedAgent(script),
    });
    const job = await service.runJob({ start_date: eve, end_date: date });
    assert.equal(job.status, 'completed', JSON.stringify(job));
    const last = expected.split('\n').at(-1)?.replace(/^.*=>/, 'no_trade =>') ?? '';
    const lines = [...expected.split('\n'), last].map((line) => `${date} ${line.trim()}`);
    const bought = `${eve} buy ${symbol} ${amount} 50 => 9500 10010 10 ${symbol}:10`;
    assert.deepEqual(ledgerOf(service.database, 'a'), ledger([bought, ...lines].join('\n')));
  });

test('an import warns of an exchange with a dividend of the same date, until that is taken back', async () => {
  const exchanges = `${HEADER}\nGE,2024-04-02,,GEV,1,4,yes\nGE,2024-04-02,,GEX,1,9,yes\nFB,2022-06-09,,FB,1,1,\nSIVB,2023-03-28,0,,,,\n`;
  const { stdout } = await importInto(temporaryFolder(), {
    'dividends.csv':
      'symbol,ex_date,amount\nGE,2024-03-07,0.08\nGE,2024-04-02,36.25\nFB,2022-06-09,1\n',
    'exchanges.csv': exchanges,
    'again.csv': exchanges,
    'none.csv': 'symbol,ex_date,amount\nGE,2024-04-02,0\n',
    'settled.csv': exchanges,
  });
  const warnings = [...stdout.matchAll(/^(\w+)\.csv: |^ {2}warning: .*/gm)].map(
    ([all, file]) => file ?? all,
  );
  const warning =
    '  warning: GE …36.25 per share on 2024-04-02…symbol,ex_date,amount…GE,2024-04-02,0';
  assertLike(warnings, ['dividends', 'exchanges', warning, 'again', warning, 'none', 'settled']);
});
