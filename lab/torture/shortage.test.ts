import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noControlGroup } from './cgroups.ts';
import { leftToLongForm, runs } from '../../test/support/long.ts';
import { SMALL_MACHINE, type ShortageReport, runShort, shortMachines } from './shortage.ts';

const DAYS = runs(4, 28);
const SEED = 7;
/** In bytes. What the service takes varies by as much, and at 50 MB it is ended itself. */
const SPARE = 2 * 1024 * 1024;

for (const machine of shortMachines) {
  // The kernel's own choices take their time; the machine that is short of tasks shows the same
  // recovery.
  const skip =
    noControlGroup(machine.controller) || (machine.controller === 'memory' && leftToLongForm);
  test(`${machine.name}: the service lives and no model-day is lost`, { skip }, async (t) => {
    const options = { days: DAYS, seed: SEED, count: machine.models };
    const report = (await runShort(machine, options)) as ShortageReport;
    t.diagnostic(JSON.stringify(report));
    assert.ok(report.modelDays >= 6);
    assert.equal(report.modelDays % machine.models, 0, 'each model has each day');
    if (machine.controller === 'pids')
      assert.ok(report.taken > 0, 'the machine was not short of tasks');
    else
      assert.ok((report.peak ?? 0) > machine.limit - SPARE, 'the machine was not short of memory');
  });
}

const skipSmall = noControlGroup('memory');
test('110 MB are enough for the service and five children', {
  skip: skipSmall || leftToLongForm,
}, async (t) => {
  const options = { days: DAYS, seed: SEED, count: 5 };
  const report = (await runShort(SMALL_MACHINE, options)) as ShortageReport;
  t.diagnostic(JSON.stringify(report));
  assert.deepEqual([report.taken, report.killed], [0, 0]);
});
