import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configurationInStudy, parseConfiguration } from '../../src/core/settings/configuration.ts';
import { like, tableOf } from '../support/text-table.ts';

/** What a configuration says of studies, right and wrong. */

const MODELS = [
  { signature: 'gpt', enabled: true, repeats: 100 },
  { signature: 'ant', enabled: true },
  { signature: 'claude@2025' },
];
const parse = (studies: unknown, models: object[] = MODELS) =>
  parseConfiguration(
    { models, agent_config: { max_steps: 9 }, universes: { ten: ['AAPL', 'KO'] }, studies },
    'file',
  );

const wrong = tableOf<[studies: string, problem: string]>(`
  {"x":{"limits":{"max_weight":3}}}          | studies.x.limits.max_weight: must be <=1
  {"x":{"limits":{"max_wieght":0.3}}}        | studies.x.limits.max_wieght: sets no limit (did you mean "max_weight"?)
  {"x":{"max_orders":3}}                     | studies.x.max_orders: sets no limit…
  {"x":{"limits":[]}}                        | studies.x.limits: expected Object, got array
  {"x":{"open":"seen"}}                      | studies.x.open: must be shown or hidden
  {"x":{"initial_cash":0.00001}}             | studies.x.initial_cash: must be at least 0.0001
  {"x":{"stock_symbols":[]}}                 | studies.x.stock_symbols: must be >=1
  {"x":{"universe":"elevn"}}                 | studies.x.universe: Universe 'elevn' is not in the server configuration: it names ten
  {"x":{"universe":"ten","stock_symbols":["A"]}} | studies.x.universe: cannot be combined with stock_symbols; keep one
  {"x":{"models":["gtp"]}}                   | studies.x.models: no entry has the signature 'gtp' (did you mean "gpt"?)
  {"x":{"models":["gpt#2"]}}                 | studies.x.models: no entry has the signature 'gpt#2'…
  {"x":{"models":"gpt"}}                     | studies.x.models: expected Array, got string
  {"a@b":{}}                                 | studies.a@b: must not contain @ or ,
  {"a,b":{}}                                 | studies.a,b: must not contain @ or ,
  {"a#2":{}}                                 | studies.a#2: must not end as the name of a repeat does
  {"#2":{}}                                  | studies.#2: must not end as the name of a repeat does
  {" ":{}}                                   | studies. : must not be empty
  {"x":[]}                                   | studies.x: expected Object, got array
  {"x":null}                                 | studies.x: expected Object, got null
  []                                         | studies: expected Object, got array
  {"${'x'.repeat(193)}":{}}                  | studies.${'x'.repeat(193)}: its name is too long to follow the name 'gpt'
  {"x":{"open":"seen"},"y":{"dividends":1}}  | studies.x.open: must be shown or hidden; studies.y.dividends: expected boolean, got number`);
test('a mistake in a study names its path', () => {
  for (const [studies, problem] of wrong)
    assert.throws(
      () => parse(JSON.parse(studies)),
      { message: like(`…file: ${problem}`) },
      studies,
    );
  const models = MODELS.slice(0, 2);
  const longest = () => parse({ ['x'.repeat(192)]: {} }, models);
  assert.doesNotThrow(longest, 'gpt@STUDY#100 has 200 characters');
});

test('an entry whose name is that of a ledger in a study is a mistake; any other may contain @', () => {
  const both = [...MODELS, { signature: 'ant@a' }];
  assert.throws(() => parse({ a: {} }, both), {
    message: like("…models['ant@a'].signature: is the name of 'ant' in the study 'a' as well"),
  });
  const repeat = [...MODELS, { signature: 'gpt@a#100' }];
  assert.throws(() => parse({ a: {} }, repeat), /'gpt' in the study 'a'/);
  for (const models of [both, repeat, [...MODELS, { signature: 'gpt@a#101' }]])
    assert.doesNotThrow(() => parse({ b: {} }, models));
});

test('unknown keys of a study are warned of, with the nearest or the block where they belong', () => {
  const { unknownKeys } = parse({ x: { opne: 'hidden', seed: 1, model: [], _why: 'a comment' } });
  assert.deepEqual(unknownKeys, [
    'Unknown keys in the configuration are ignored: studies.x.opne (did you mean "open"?), ' +
      'studies.x.seed (`seed` belongs to `models[]`), studies.x.model (did you mean "models"?)',
  ]);
});

test('the keys of a study replace those of agent_config as a whole, and null is the default', () => {
  const configuration = parseConfiguration(
    {
      models: MODELS,
      agent_config: {
        ...{ open: 'hidden', max_steps: 9, initial_cash: 5, stock_symbols: ['AAPL'] },
        limits: { max_weight: 0.5, min_cash: 0.1 },
      },
      universes: { ten: ['AAPL', 'KO'] },
      studies: {
        same: {},
        other: { open: 'shown', limits: { max_orders: 1 }, initial_cash: 7, max_cost_usd: 2 },
        none: { open: null, limits: null, initial_cash: null, stock_symbols: null, models: null },
        named: { universe: 'ten', models: ['claude@2025', 'gpt'], stock_symbols: null },
      },
    },
    'file',
  );
  const termsOf = (study: string | null) => {
    const { configuration: own, universe, models } = configurationInStudy(configuration, study);
    const { open, limits, initial_cash, max_steps, max_cost_usd, stock_symbols } = own.agent_config;
    const count = stock_symbols.length;
    return [open, limits, initial_cash, max_steps, max_cost_usd, count, universe, models];
  };
  const same = ['hidden', { max_weight: 0.5, min_cash: 0.1 }, 5, 9, null, 1, null, []];
  assert.deepEqual(termsOf(null), same);
  assert.deepEqual(termsOf('same'), same);
  assert.deepEqual(termsOf('other'), ['shown', { max_orders: 1 }, 7, 9, 2, 1, null, []]);
  assert.deepEqual(termsOf('none'), ['shown', null, 10_000, 9, null, 101, null, []]);
  const named = ['ten', ['claude@2025', 'gpt']];
  assert.deepEqual(termsOf('named').slice(-2), named);
  assert.throws(() => termsOf('oter'), {
    code: 'unknown_study',
    message: like(
      'Study \'oter\' is not in the server configuration: it names same, other, none, named (did you mean "other"?)',
    ),
  });
});
