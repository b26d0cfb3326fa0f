import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noProc } from '../../test/support/processes.ts';
import { runs } from '../../test/support/long.ts';
import { torture } from './torture.ts';

const KILLS = runs(1, 20);
const DAYS = runs(4, 12);

test('killed at random moments, the service loses nothing and pays for nothing twice', {
  skip: noProc,
}, async (t) => {
  const seed = Date.now() % 1_000_000;
  t.diagnostic(`seed ${seed}: npm run torture -- ${KILLS} ${seed}`);
  const report = await torture({ kills: KILLS, seed, days: DAYS });
  assert.equal(report.kills, KILLS);
  assert.ok(report.modelDays > 0 && report.records >= report.modelDays);
});
