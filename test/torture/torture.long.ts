import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noProc } from '../support/processes.ts';
import { links } from './links.ts';
import { lostLog } from './lost-log.ts';

const ROUNDS = 6;

test('no second server starts through links to the database, and after a kill any of them continues', {
  skip: noProc,
}, async (t) => {
  const seed = Date.now() % 1_000_000;
  t.diagnostic(`seed ${seed}`);
  const { refused, takenOver, modelDays } = await links({ rounds: ROUNDS, seed });
  assert.deepEqual([refused, takenOver], [10, 4]);
  assert.ok(modelDays > 0);
});

test('a log that is removed under the service at any moment loses nothing that it had reported', {
  skip: noProc,
}, async (t) => {
  const seed = Date.now() % 1_000_000;
  t.diagnostic(`seed ${seed}`);
  const { removed, modelDays } = await lostLog({ rounds: ROUNDS, seed });
  assert.equal(removed, ROUNDS);
  assert.ok(modelDays > 0);
});
