import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDemoView } from '../../test/support/demo-view.ts';
import { pythonWith, run } from '../../test/support/foreign-tools.ts';
import { temporaryFolder } from '../../test/support/folder.ts';

/** pandas reads every table of the built service, with a number where a number is meant. */

const TOOL = 'pandas==3.0.1';
const TEST_MS = 600_000;
const SCRIPT = new URL('../fixtures/clients/tables.py', import.meta.url).pathname;

const NUMBERS = ['f', 'i', 'empty'];
const TEXTS = ['O', 'T', 'U', 'empty'];
/** What some columns hold, in whichever table they are. */
const kinds: Record<string, readonly string[]> = {
  date: ['M'],
  model: TEXTS,
  entry: TEXTS,
  kind: TEXTS,
  status: TEXTS,
  incomparable: TEXTS,
  daily_return: NUMBERS,
  growth: NUMBERS,
  total_return: NUMBERS,
  interval_low: NUMBERS,
  interval_high: NUMBERS,
  sharpe_ratio: NUMBERS,
  max_drawdown_depth: NUMBERS,
  relative_beta: NUMBERS,
  amount: NUMBERS,
  price: NUMBERS,
  runs: ['i'],
  completed: ['i'],
  stale: ['b', 'empty'], // an entry has none
  interval_is_lower_bound: ['b'],
};

/** Each table, with the list of the JSON that has as many rows; null where there is none. */
const tables: [path: string, rows: string | null][] = [
  ['/results?', 'results'],
  ['/decisions?limit=200', 'decisions'],
  ['/decisions?kind=trade', 'decisions'],
  ['/jobs?', 'jobs'],
  ['/comparison?', 'models'],
  ['/comparison?table=pairs', 'pairs'],
  ['/performance?table=figures', 'models'],
  ['/performance?table=figures&by=entry', 'families'],
  ...['curve', 'returns', 'trades', 'actions', 'style'].flatMap((table) =>
    ['', '&by=entry'].map((by): [string, null] => [`/performance?table=${table}${by}`, null]),
  ),
];

test('pandas reads each table with the kinds that its columns have', {
  timeout: TEST_MS,
}, async (t) => {
  const python = process.env['PANDAS'] ?? pythonWith(t, [TOOL]);
  if (python === null) return;
  const origin = await startDemoView(t);
  const urls = tables.map(([path]) => `${origin}${path}&format=csv`);
  const lines = run(python, [SCRIPT, ...urls], { cwd: temporaryFolder() })
    .trim()
    .split('\n');
  assert.equal(lines.length, tables.length);
  for (const [place, line] of lines.entries()) {
    const [path, list] = tables[place] ?? assert.fail();
    const [, count, found] = JSON.parse(line) as [string, number, Record<string, string>];
    for (const [column, kind] of Object.entries(found))
      assert.ok((kinds[column] ?? [kind]).includes(kind), `${path}: ${column} is ${kind}`);
    if (list === null) continue;
    const json: any = await (await fetch(origin + path.replace(/table=\w+/, ''))).json(); // any: its lists are counted
    assert.equal(count, json[list].length, path);
  }
});
