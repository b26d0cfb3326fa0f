import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { generatedPages } from '../lab/docs.ts';

for (const { path, make } of generatedPages)
  test(`${path} is what the code says`, () => {
    const written = readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
    assert.ok(written === make(), `${path} is older than the code: run npm run docs`);
  });
