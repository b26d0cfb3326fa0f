import { test } from 'node:test';
import { fuzzChildren } from '../support/fuzz-children.ts';
import { inLongForm, runs } from '../support/long.ts';

const CHILDREN = runs(8, 200);

test(
  'children that send anything: each is one ended model-day (npm run fuzz runs more)',
  inLongForm,
  async (t) => {
    await fuzzChildren(t, { children: CHILDREN, seed: Date.now() % 2 ** 31 });
  },
);
