import { test } from 'node:test';
import { fuzz } from '../support/fuzz.ts';
import { inLongForm, runs } from '../support/long.ts';

const REQUESTS = runs(150, 5_000);

test(
  'requests made at random: no 5xx, no hang, no leak (npm run fuzz sends more)',
  inLongForm,
  async (t) => {
    await fuzz(t, { requests: REQUESTS, seed: Date.now() % 2 ** 31 });
  },
);
