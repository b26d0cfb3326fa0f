import { test } from 'node:test';
import { fuzzChildren } from '../test/support/fuzz-children.ts';
import { fuzz } from '../test/support/fuzz.ts';

/**
 * `npm run fuzz -- [REQUESTS] [SEED] [CHILDREN]`: the long form of http/fuzz.test.ts and
 * children/fuzz.test.ts.
 */
const [requests = '20000', seed = String(Date.now() % 2 ** 31), children = '1000'] =
  process.argv.slice(2);

test(`${requests} requests made at random: no 5xx, no hang, no leak`, async (t) => {
  await fuzz(t, { requests: Number(requests), seed: Number(seed) });
});

test(`${children} children that send anything: each is one ended model-day`, async (t) => {
  await fuzzChildren(t, { children: Number(children), seed: Number(seed) });
});
