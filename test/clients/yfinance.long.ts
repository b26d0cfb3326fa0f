import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { canInstall, run } from '../support/foreign-tools.ts';
import { installProgram, runProgram } from '../support/program.ts';
import { temporaryFolder } from '../support/folder.ts';

/**
 * What pandas writes of the tables that yfinance makes: it lacks a network here, so its own way of
 * joining the tables of symbols (`_realign_dfs`, `concat`, `swaplevel` in yfinance/multi.py) is
 * repeated on made-up ones.
 */
const PROGRAM = `
import itertools, pandas, yfinance

PRICES = ['Open', 'High', 'Low', 'Close']
ACTIONS = ['Dividends', 'Stock Splits', 'Capital Gains']

def table(symbol, adjusted, actions):
    days = pandas.DatetimeIndex(['2025-09-02', '2025-09-03', '2025-09-04'][: 2 if symbol == 'MSFT' else 3], name='Date')
    columns = PRICES + ([] if adjusted else ['Adj Close']) + ['Volume'] + (ACTIONS if actions else [])
    base = {'AAPL': 100.0, 'MSFT': 200.0}[symbol]
    off = {'High': 1.5, 'Low': -1.5}
    rows = {name: [base + day + off.get(name, 0) for day in range(len(days))] for name in columns}
    rows['Volume'] = [1000 + day for day in range(len(days))]
    for name in ACTIONS if actions else []:
        rows[name] = [0.0] * len(days)
    if actions:
        rows['Dividends'][1] = 0.26
    return pandas.DataFrame(rows, index=days)[columns]

for symbols, adjusted, actions, group in itertools.product(
    (['AAPL'], ['AAPL', 'MSFT']), (True, False), (True, False), ('column', 'ticker')
):
    data = pandas.concat([table(symbol, adjusted, actions) for symbol in symbols],
                         axis=1, sort=True, keys=symbols, names=['Ticker', 'Price'])
    if group == 'column':
        data.columns = data.columns.swaplevel(0, 1)
        data = data.sort_index(level=0, axis=1)
    name = '-'.join(symbols) + ('' if adjusted else '_unadjusted') + ('_actions' if actions else '') + '_' + group
    data.to_csv(f'{name}.csv')
`;

const bars = (symbols: number) => (symbols === 1 ? 3 : 5);

test('tables of yfinance are read as pandas writes them: one symbol and several, by field and by symbol', async (t) => {
  const folder = temporaryFolder();
  const install = () => {
    run('python3', ['-m', 'venv', 'venv'], { cwd: folder });
    const packages = ['yfinance==1.7.0', 'pandas==3.1.1'];
    run('venv/bin/pip', ['install', '--quiet', ...packages], { cwd: folder });
  };
  if (!canInstall(t, 'yfinance', install)) return;
  run(join(folder, 'venv/bin/python'), ['-c', PROGRAM], { cwd: folder });
  const files = readdirSync(folder).filter((name) => name.endsWith('.csv'));
  assert.equal(files.length, 16);
  for (const file of files) {
    const cwd = installProgram();
    const { code, stdout } = await runProgram(['import-prices', join(folder, file)], { cwd });
    const symbols = file.startsWith('AAPL-MSFT') ? 2 : 1;
    const what = `imported ${bars(symbols)} bars (${bars(symbols)} new or changed) of ${symbols} symbol`;
    assert.ok(code === 0 && stdout.includes(': yfinance CSV\n') && stdout.includes(what), stdout);
    const paid = `and ${symbols} dividend${symbols === 1 ? '' : 's'} and 0 splits`;
    assert.equal(stdout.includes(paid), file.includes('_actions'), stdout);
  }
});
