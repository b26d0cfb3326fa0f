import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findBoard, namedMarkets, US } from '../src/core/domain/market-rules.ts';
import {
  agentConfigurationFor,
  configurationInStudy,
  parseAgentConfiguration,
  parseConfiguration,
} from '../src/core/settings/configuration.ts';
import { nasdaq100 } from '../src/core/settings/default-symbols.ts';
import { requestHash } from '../src/core/settings/entry.ts';
import { changedTerms, termsKey } from '../src/core/settings/terms.ts';
import { like, tableOf } from './support/text-table.ts';

/** In which market a configuration trades. */

const CN = namedMarkets['cn'] ?? US;
const WHOLE = {
  ...{ currency: 'HKD', sell_same_day: true, opens: '09:30', time_zone: 'Asia/Hong_Kong' },
  ...{ benchmark: '2800.HK', symbols: '0700.HK,100,100,\n*.HK,500,500,' },
};
const parse = (agent_config: object, more: object = {}) =>
  parseConfiguration({ models: [], agent_config, ...more }, 'file');
const marketOf = (agent_config: object, more: object = {}) =>
  parse(agent_config, more).agent_config.market;

test('a market is a name, all its keys, or another one and what differs', () => {
  assert.deepEqual(marketOf({}), US);
  assert.deepEqual(marketOf({ market: null }), US);
  assert.deepEqual(marketOf({ market: 'us' }), US);
  assert.deepEqual(marketOf({ market: 'cn' }), CN);
  assert.deepEqual(marketOf({ market: { base: 'cn' } }), CN);
  assert.deepEqual(marketOf({ market: { base: 'cn', currency: 'CNY', sell_same_day: false } }), CN);
  assert.deepEqual(marketOf({ market: WHOLE }), {
    name: 'own',
    ...{ currency: 'HKD', sell_same_day: true, opens: '09:30', time_zone: 'Asia/Hong_Kong' },
    benchmark: '2800.HK',
    boards: [
      { symbols: '0700.HK', minimum: 100, step: 100, price_limit: null },
      { symbols: '*.HK', minimum: 500, step: 500, price_limit: null },
      ...US.boards,
    ],
  });
  const flat = marketOf({ market: { base: 'cn', symbols: '*,10,10,\nA,1,1,' } });
  assert.deepEqual(flat.boards, [{ symbols: '*', minimum: 10, step: 10, price_limit: null }]);
  const star = 'symbols,minimum,step,price_limit\n688*.SH, 200, 1, 0.2\n';
  assert.deepEqual(marketOf({ market: { base: 'cn', symbols: star } }), {
    ...CN,
    name: 'cn, changed',
    boards: [{ symbols: '688*.SH', minimum: 200, step: 1, price_limit: 0.2 }, ...CN.boards],
  });
});

test('the boards of the Chinese exchanges', () => {
  const boards = tableOf<[symbol: string, minimum: string, step: string, limit: string]>(`
    600519.SH | 100 | 100 | 0.1
    000001.SZ | 100 | 100 | 0.1
    688981.SH | 100 | 100 | 0.2
    689009.SH | 100 | 100 | 0.2
    300750.SZ | 100 | 100 | 0.2
    301001.SZ | 100 | 100 | 0.2
    920047.BJ | 100 | 1   | 0.3
  `);
  for (const [symbol, ...row] of boards) {
    const { minimum, step, price_limit: limit } = findBoard(CN, symbol);
    assert.deepEqual([minimum, step, limit], row.map(Number), symbol);
  }
});

/** The market of a configuration, and what is wrong with it. */
const wrong = tableOf<[market: string, problem: string]>(`
  "cm"                            | : is not a market: the markets are "us", "cn", or an object has the keys of another one
  "usa"                           | : is not a market: did you mean "us"?
  7                               | : must be one of "us", "cn", or an object
  []                              | : must be one of "us", "cn", or an object
  {}                              | : lacks currency, sell_same_day, opens, time_zone, benchmark, symbols; name all keys, or a "base" ("us", "cn") and what differs from it
  {"currency":"HKD","opens":"09:30"} | : lacks sell_same_day, time_zone, benchmark, symbols; name all keys, or a "base" ("us", "cn") and what differs from it
  {"base":"cnn"}                  | .base: is not a market: did you mean "cn"?
  {"base":"toString"}             | .base: is not a market: the markets are "us", "cn"
  {"base":7}                      | .base: is not a market: the markets are "us", "cn"
  {"base":"cn","curency":"CNY"}   | .curency: is not a key of a market (did you mean "currency"?)
  {"base":"cn","lots":100}        | .lots: is not a key of a market; they are currency, sell_same_day, opens, time_zone, benchmark, symbols, base
  {"base":"cn","currency":"Yuan"} | .currency: must be three capital letters such as CNY
  {"base":"cn","sell_same_day":1} | .sell_same_day: must be true or false
  {"base":"cn","opens":"9:30"}    | .opens: must be a time such as 09:30
  {"base":"cn","time_zone":"Shanghai"} | .time_zone: must be a time zone such as Asia/Shanghai
  {"base":"cn","benchmark":""}    | .benchmark: must be a ticker symbol in capital letters
  {"base":"cn","symbols":{}}      | .symbols: must be text with lines of symbols,minimum,step,price_limit
  {"base":"cn","symbols":"A,0,1,"} | .symbols: line 1: minimum and step must be whole numbers from 1 to 1000000
  {"base":"cn","symbols":"A,1,1,\\nB,1,0.5,"} | .symbols: line 2: minimum and step must be whole numbers from 1 to 1000000
  {"base":"cn","symbols":"A,1,1,2"} | .symbols: line 1: price_limit must be above 0 and below 1 (0.1 is 10 %), or empty
  {"base":"cn","symbols":"A,1,1,0"} | .symbols: line 1: price_limit must be above 0 and below 1 (0.1 is 10 %), or empty
  {"base":"cn","symbols":"A,1"}   | .symbols: line 1: must be symbols,minimum,step,price_limit
  {"base":"cn","symbols":"a,1,1,"} | .symbols: line 1: symbols must be a symbol in capital letters, or a pattern with one *
  {"base":"cn","symbols":"*A*,1,1,"} | .symbols: line 1: symbols must be a symbol in capital letters, or a pattern with one *
`);
test('a market that is none is an error with its place and what to do', () => {
  for (const [market, problem] of wrong) {
    const fails = (content: object, place: string) =>
      assert.throws(() => parse(content), {
        code: 'broken_configuration',
        message: `Cannot use the server configuration file: ${place}${problem}`,
      });
    fails({ market: JSON.parse(market) }, 'agent_config.market');
    const study = { studies: { x: { market: JSON.parse(market) } } };
    assert.throws(() => parse({}, study), { message: like(`…studies.x.market${problem}`) });
  }
  assert.throws(() => parse({}, { market: { base: 'cn' } }), {
    message: /file: market: must be a name here; agent_config\.market may be an object$/,
  });
  assert.throws(() => parse({ sell_tax_bps: -1 }), { message: /agent_config\.sell_tax_bps: / });
  assert.throws(() => parse({ min_commission: '5' }), {
    message: /agent_config\.min_commission: /,
  });
});

/** The top level of a file, its market, and what the trigger warns of. */
const family = tableOf<[level: string, market: string, others: string]>(`
  {"market":"cn"}                            | cn | -
  {"market":"us"}                            | us | -
  {"agent_type":"BaseAgentAStock"}           | cn | -
  {"agent_type":"BaseAgent"}                 | us | -
  {"agent_type":"BaseAgentAStock","market":"us"} | us | -
  {"market":"crypto"}                        | us | "market": "crypto"
  {"agent_type":"BaseAgentCrypto"}           | us | "agent_type": "BaseAgentCrypto"
  {"agent_type":"BaseAgentCrypto","market":"crypto"} | us | "market": "crypto"
  {"agent_type":"BaseAgent_Hour"}            | us | "agent_type": "BaseAgent_Hour"
  {"agent_type":"BaseAgentAStock_Hour","market":"cn"} | cn | "agent_type": "BaseAgentAStock_Hour"
`);
test('a file of the AI-Trader family says its market at its top level, or by its agent', () => {
  for (const [level, market, others] of family) {
    const { agent_config, familyNotes } = parse({}, JSON.parse(level));
    assert.equal(agent_config.market.name, market, level);
    const sentence = `${others} is for other programs: here models trade once a day, on weekdays, in whole units, by the rules of "${market}" unless agent_config.market has others`;
    assert.deepEqual(familyNotes, others === '-' ? [] : [sentence], level);
    assert.equal(marketOf({ market: 'cn' }, JSON.parse(level)).name, 'cn', 'it is nearer');
  }
});

test('without stock_symbols the universe is that of the market, of a study too', () => {
  const SSE50 = parse({ market: 'cn' }).agent_config.stock_symbols;
  assert.deepEqual([SSE50.length, SSE50[0], SSE50.at(-1)], [50, '600519.SH', '600048.SH']);
  assert.equal(new Set(SSE50).size, 50);
  const studies = { chinese: { market: 'cn' }, usual: { market: null }, own: { market: 'us' } };
  const symbolsIn = (study: string, agent_config: object, more: object = {}) => {
    const all = parse(agent_config, { studies, ...more });
    const { configuration } = configurationInStudy(all, study);
    const { market, stock_symbols } = agentConfigurationFor(configuration, null, 'file');
    return [market.name, stock_symbols];
  };
  assert.deepEqual(symbolsIn('chinese', {}), ['cn', SSE50]);
  assert.deepEqual(symbolsIn('chinese', { stock_symbols: ['A'] }), ['cn', ['A']]);
  assert.deepEqual(symbolsIn('usual', { market: 'cn' }), ['us', nasdaq100]);
  assert.deepEqual(symbolsIn('usual', {}, { market: 'cn' }), ['cn', SSE50]);
  assert.deepEqual(symbolsIn('own', { market: 'cn' }, { market: 'cn' }), ['us', nasdaq100]);
});

test('a job from before there were markets is one of the American market, on the same terms', () => {
  const now = parse({ stock_symbols: ['A'] }).agent_config;
  const { name: _name, sell_same_day: _same, boards, ...market } = US;
  const { min_commission: _least, sell_tax_bps: _tax, ...terms } = now;
  const lots = boards.map(({ price_limit: _limit, ...board }) => board);
  for (const stored of [
    { ...terms, market: { ...market, boards: lots } },
    { ...terms, market: undefined },
  ]) {
    const before = parseAgentConfiguration(JSON.stringify(stored));
    assert.deepEqual(before, now);
    assert.deepEqual([changedTerms(before, now), termsKey(before)], [[], termsKey(now)]);
    assert.equal(requestHash(null, before), requestHash(null, now));
  }
});

test('market and costs are terms of a job; the name of a market is none', () => {
  const now = parse({ stock_symbols: ['A'] }).agent_config;
  const other = (terms: object) => parse({ stock_symbols: ['A'], ...terms }).agent_config;
  assert.deepEqual(changedTerms(now, other({ market: 'cn', min_commission: 5, sell_tax_bps: 5 })), [
    'trading costs: none before, at least 5 CNY per trade, tax of 5 basis points on sales now',
    'market: us before, cn now',
  ]);
  assert.notEqual(requestHash(null, now), requestHash(null, other({ min_commission: 5 })));
  assert.notEqual(requestHash(null, now), requestHash(null, other({ market: 'cn' })));
  const named = { ...now, market: { ...US, name: 'own' } };
  assert.deepEqual(
    [changedTerms(now, named), requestHash(null, named)],
    [[], requestHash(null, now)],
  );
});
