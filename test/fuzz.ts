import { test } from 'node:test';
import { fuzz } from './support/fuzz.ts';

/** `npm run fuzz -- [REQUESTS] [SEED]`: the long form of http/fuzz.test.ts. */
const [requests = '20000', seed = String(Date.now() % 2 ** 31)] = process.argv.slice(2);

test(`${requests} requests made at random: no 5xx, no hang, no leak`, async (t) => {
  await fuzz(t, { requests: Number(requests), seed: Number(seed) });
});
