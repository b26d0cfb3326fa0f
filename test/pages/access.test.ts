import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tokenProblem } from '../../src/features/pages/browser/api.ts';

test('a token that no header can carry is refused in words, before it is sent', () => {
  const rows: [text: string, problem: RegExp][] = [
    ['correct-horse_battery.!~', /^$/],
    ['', /^$/],
    ['“secret”', /^A token never contains the sign “\. /],
    ['a—b', /the sign —/],
    ['two words', /a blank/],
    ['non\u00a0breaking', /a blank/],
    ['ключ', /the sign к/],
    ['zero\u200bwidth', /^A token never contains /],
    ['a💰', /the sign 💰/],
  ];
  for (const [text, problem] of rows) assert.match(tokenProblem(text), problem, text);
});
