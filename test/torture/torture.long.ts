import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noProc } from '../support/processes.ts';
import { links } from './links.ts';

const ROUNDS = 6;

test('no second server starts through links to the database, and after a kill any of them continues', {
  skip: noProc,
}, async (t) => {
  const seed = Date.now() % 1_000_000;
  t.diagnostic(`seed ${seed}`);
  const { refused, takenOver, modelDays } = await links({ rounds: ROUNDS, seed });
  assert.deepEqual([refused, takenOver], [12, 6]);
  assert.ok(modelDays > 0);
});
