import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ORACLE_PYTHON, withoutPackages } from '../../test/support/oracle.ts';
import { within } from '../../test/support/near.ts';
import { fillWithTrackRecords } from '../../test/support/track-records.ts';
import { startTestView } from '../../test/support/view.ts';
import { temporaryFolder } from '../../test/support/folder.ts';

/** The table "Words and signs" of docs/reference/metrics.md, against quantstats and empyrical-reloaded. */
const skip = withoutPackages('quantstats', 'empyrical');
const SCRIPT = new URL('returns.py', import.meta.url).pathname;

/** CSV has ten decimals. */
const assertNear = within({ absolute: 1e-6, relative: 1e-6 });

/** Where a figure is in the report of a model. */
const places: Record<string, (report: any) => number> = {
  max_drawdown: ({ max_drawdown: { depth } }) => depth,
  best_day: ({ best_day: { daily_return: own } }) => own,
  worst_day: ({ worst_day: { daily_return: own } }) => own,
  beta: ({ relative }) => relative.beta,
  alpha: ({ relative }) => relative.alpha,
  information_ratio: ({ relative }) => relative.information_ratio,
};

test('quantstats and empyrical read the returns as they are, and have our figures under their words and signs', {
  skip,
}, async (t) => {
  const folder = temporaryFolder();
  const path = join(folder, 'jobs.db');
  fillWithTrackRecords(path, { models: ['alpha', 'alpha#2', 'BETA, "5"'], days: 300 });
  const yearly = 0.04;
  const view = await startTestView(t, path, { settings: { riskFreeRate: yearly } });
  const [csv, html] = [join(folder, 'returns.csv'), join(folder, 'report.html')];
  const table = await fetch(`${view.url}/performance?table=returns&format=csv`);
  writeFileSync(csv, await table.text());
  const { models } = (await view.get('/performance')).body;
  const { status, stdout, stderr } = spawnSync(ORACLE_PYTHON, [SCRIPT, csv, String(yearly), html], {
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  const theirs = JSON.parse(stdout);
  assert.deepEqual(
    Object.keys(theirs),
    models.map(({ model }: any) => model),
  );
  for (const report of models) {
    const { equal, like } = theirs[report.model];
    for (const [name, values] of Object.entries<number[]>(equal)) {
      const own = places[name]?.(report) ?? report[name];
      for (const value of values) assertNear(value, own, `${name} of ${report.model}`);
    }
    for (const [name, values] of Object.entries<number[]>(like))
      for (const value of values)
        assert.ok(
          value > 0.5 * report[name] && value < 2 * report[name],
          `${name}: ${value}, not ${report[name]}`,
        );
  }
  const page = readFileSync(html, 'utf8');
  assert.ok(page.length > 100_000 && page.includes('Sharpe'), 'the report of quantstats');
});
