import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAgentConfiguration } from '../../src/core/settings/configuration.ts';
import { changedTerms } from '../../src/core/settings/terms.ts';
import { tableOf } from '../support/text-table.ts';

const changes = tableOf<[before: string, now: string, said: string]>(`
  AAPL MSFT           | AAPL MSFT       | ${''}
  AAPL MSFT           | MSFT AAPL MSFT  | ${''}
  AAPL MSFT           | ORLY            | universe: 2 symbols before, 1 symbol now, without AAPL, MSFT, with ORLY
  AAPL                | AAPL MSFT       | universe: 1 symbol before, 2 symbols now, with MSFT
  AAPL MSFT           | MSFT            | universe: 2 symbols before, 1 symbol now, without AAPL
  AAPL AMD COST MSFT NVDA | AAPL        | universe: 5 symbols before, 1 symbol now, without AMD, COST, MSFT and 1 more
`);
test('a changed universe is said in words: how many symbols, which went, and which came', () => {
  const termsOf = (symbols: string) =>
    parseAgentConfiguration(JSON.stringify({ stock_symbols: symbols.split(' ') }));
  for (const [before, now, said] of changes)
    assert.equal(changedTerms(termsOf(before), termsOf(now)).join('; '), said);
});
