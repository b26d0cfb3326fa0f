import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noLead } from '../../src/features/comparison/planning.ts';
import {
  type AnswerFacts,
  reportAnswer,
  type Demands,
  measureLead,
  type PairFacts,
  pairSentence,
} from '../../src/features/comparison/answer.ts';
import type { Period } from '../../src/features/comparison/looks.ts';

/** What the sentence of a pair is made from. */
type Facts = Omit<PairFacts, 'period'> & Period & Demands;

const example: Facts = {
  model: 'gpt-5',
  against: 'claude',
  returns: [0.0301, 0.02],
  interval: { low: -0.047, high: 0.069 },
  days: 20,
  confidence: 0.95,
  looks: 'once',
  isShown: false,
  isShownAsOnlyPair: false,
  pairs: 3,
  smallestDifference: 0.077,
  daysNeeded: 1180,
  singleRuns: [],
  terms: null,
};

const AHEAD = 'gpt-5 is 1.01 points ahead of claude over 20 days';
const RANGE = '(95 % interval −4.79 to +7.04 points, for a single look)';
const LEAST = 'In 20 days only a lead of about 7.85 points or more can be detected';
const NEEDED = `${LEAST}; this one would need about 1,180 days.`;

const table: [name: string, change: Partial<Facts>, sentence: string][] = [
  ['a lead that could be chance', {}, `${AHEAD} ${RANGE}. This could be chance. ${NEEDED}`],
  [
    'the one with the higher return comes first, with an interval of its own',
    { returns: [0, 0.01], interval: { low: -0.2, high: 0.25 } },
    'claude is 1.00 points ahead of gpt-5 over 20 days (95 % interval −20.00 to +25.00 points, for a single look). This could be ' +
      'chance. In 20 days only a lead of about 7.70 points or more can be detected; this one would need about 1,180 days.',
  ],
  [
    'a difference that is shown',
    { isShown: true, isShownAsOnlyPair: true, daysNeeded: 6 },
    `${AHEAD} ${RANGE}. This is more than chance.`,
  ],
  [
    'a difference that would be shown if it were the only one',
    { isShownAsOnlyPair: true, pairs: 1225, daysNeeded: 15 },
    `${AHEAD} ${RANGE}. This could be chance after correcting for 1,225 pairs, although the interval excludes 0.`,
  ],
  [
    'more days cannot show it',
    { daysNeeded: { reason: 'More days will not settle it' } },
    `${AHEAD} ${RANGE}. This could be chance. ${LEAST}. More days will not settle this one; more repeats might.`,
  ],
  [
    'no difference at all',
    { returns: [0.02, 0.02], daysNeeded: { reason: 'There is no difference to show' } },
    `gpt-5 is level with claude over 20 days ${RANGE}. ${LEAST}.`,
  ],
  [
    'a small lead is less than the least that is shown, a large number of days keeps three digits',
    { returns: [0.020012, 0.02], daysNeeded: 25_200 },
    `gpt-5 is less than 0.01 points ahead of claude over 20 days ${RANGE}. This could be chance. ${LEAST}; this one would need about 25,200 days.`,
  ],
  [
    'more than a hundred years are not counted in days',
    { daysNeeded: 25_201 },
    `${AHEAD} ${RANGE}. This could be chance. ${LEAST}; this one would need more than 100 years of trading days.`,
  ],
  [
    'for every day at once, at another confidence',
    { looks: 'daily', confidence: 0.999 },
    `${AHEAD} (99.9 % interval −4.79 to +7.04 points, whichever day you look). This could be chance. ${NEEDED}`,
  ],
  [
    'runs that are too few for any lead',
    { smallestDifference: { reason: noLead(20) } },
    `${AHEAD} ${RANGE}. This could be chance. ${noLead(20)}.`,
  ],
  [
    'figures that are too large are left out',
    { interval: { reason: 'too large' }, smallestDifference: { reason: 'too large' } },
    `${AHEAD}. This could be chance.`,
  ],
  [
    'returns that are too large for a number',
    { returns: [{ reason: 'too large' }, 0.1], interval: { reason: 'too large' }, isShown: true },
    'gpt-5 is far ahead of claude over 20 days. This is more than chance.',
  ],
  [
    'an end whose opposite is too large for a number',
    { returns: [0, 0.01], interval: { low: -1, high: 0.25 }, isShown: true },
    'claude is 1.00 points ahead of gpt-5 over 20 days. This is more than chance.',
  ],
  [
    'a single run of either',
    { singleRuns: ['claude'], isShown: true },
    `${AHEAD} (95 % interval −4.79 to +7.04 points or wider, for a single look). This is more than chance.`,
  ],
];

test('a pair as one sentence for people', () => {
  for (const [name, change, sentence] of table) {
    const facts = { ...example, ...change };
    assert.equal(pairSentence(measureLead({ ...facts, period: facts }), facts), sentence, name);
  }
});

const one = (model: string, totalReturn: AnswerFacts['models'][number]['totalReturn']) => {
  return { model, totalReturn };
};
const leadIn = (model: string, against: string, more: Partial<PairFacts> = {}) => {
  const own = { returns: [0.032, 0.014] as const, interval: { low: -0.016, high: 0.053 } };
  const period = { days: 55, confidence: 0.95, looks: 'daily' as const };
  return measureLead({ model, against, isShown: false, singleRuns: [], period, ...own, ...more });
};
const many = (days: number) => Array.from({ length: days }, (_, day) => day);
const none = { reason: 'Few' };
const [deepseek, qwen] = [one('deepseek', 0.032), one('qwen', 0.014)];
const unknown = [one('deepseek', none), one('qwen', none)];
const leads = [leadIn('deepseek', 'qwen')];
const CHANCE =
  'its lead of 1.80 points over qwen could be chance (95 % interval −1.62 to +5.37 points, whichever day you look)';
const MADE = 'The benchmark (QQQ) made +2.10 % over the same days.';
const LEADS = 'deepseek leads with +3.20 % over 55 days';
const TAKES =
  'It takes 20 days in common to say whether a difference could be chance; so far there';
/** +3.63 and +3.25 differ by 0.38, in a pair that names the other model first. */
const shown = leadIn('qwen', 'deepseek', {
  returns: [0.03246, 0.03633],
  interval: { low: -0.5, high: -0.1 },
  isShown: true,
});
const level = leadIn('deepseek', 'twin', { returns: [0.032, 0.032], interval: none });
const ORLY = 'possible split of ORLY on 2025-06-10';
const OTHER_UNIVERSE = 'Its universe is not that of b: 3 symbols against 101 symbols';
const STALE = '5 of its 60 model-days are stale: what they started from has changed since; trigger';
const bothSuspected = new Map([
  ['deepseek', [ORLY]],
  ['qwen', [ORLY, 'large dividend of TTD on 2025-08-08']],
]);

const answers: [facts: Partial<AnswerFacts>, sentence: string][] = [
  [{}, `${LEADS}; ${CHANCE}. ${MADE}`],
  [
    { benchmark: { name: 'QQQ', totalReturn: 0.0696 } },
    `No model beat the benchmark (QQQ), which made +6.96 % over 55 days. deepseek came closest with +3.20 %; ${CHANCE}.`,
  ],
  [{ benchmark: none }, `${LEADS}; ${CHANCE}.`],
  [
    { models: [one('qwen', 0.03246), one('deepseek', 0.03633)], leads: [shown] },
    'deepseek leads with +3.63 % over 55 days; its lead of 0.38 points over qwen is more than chance ' +
      `(95 % interval +11.47 to +103.25 points, whichever day you look). ${MADE}`,
  ],
  [
    { models: [deepseek, one('twin', 0.032)], leads: [level] },
    `${LEADS}, level with twin. ${MADE}`,
  ],
  [
    { leads: [leadIn('deepseek', 'qwen', { singleRuns: ['qwen'] })] },
    `${LEADS}; ${CHANCE.replace('points,', 'points or wider,')}. ${MADE}`,
  ],
  // All against one, which is not the second.
  [
    { models: [deepseek, one('second', 0.03), qwen], leads: [...leads, leadIn('second', 'qwen')] },
    `${LEADS}; ${CHANCE}. ${MADE}`,
  ],
  // The highest return has an unknown split.
  [
    { models: [one('orly', 0.5), deepseek, qwen], suspected: new Map([['orly', [ORLY]]]) },
    `${LEADS}; ${CHANCE}. ${MADE} Left out until settled: orly (${ORLY}).`,
  ],
  [
    { models: [deepseek, qwen], suspected: bothSuspected },
    'No leader can be named over these 55 days. Left out until settled: ' +
      `deepseek, qwen (${ORLY}, large dividend of TTD on 2025-08-08).`,
  ],
  // Whoever is left out is named with the reason, whatever it made.
  [
    { models: [one('a', 0.5), deepseek, qwen], leftOut: new Map([['a', OTHER_UNIVERSE]]) },
    `${LEADS}; ${CHANCE}. ${MADE} Not compared: a (its universe is not that of b).`,
  ],
  [
    {
      benchmark: { name: 'QQQ', totalReturn: 0.0696 },
      models: [deepseek, one('a', none), one('b', none), one('c', 0.1), qwen],
      leftOut: new Map([
        ['a', STALE],
        ['b', STALE],
        ['c', 'It was asked in two ways: the request differs; choose'],
      ]),
    },
    `No comparable model beat the benchmark (QQQ), which made +6.96 % over 55 days. deepseek came closest with +3.20 %; ${CHANCE}.` +
      ' Not compared: a, b (each: 5 of its 60 model-days are stale); c (it was asked in two ways).',
  ],
  // Each once, and only a few.
  [
    {
      suspected: new Map([['a', [ORLY]]]),
      leftOut: new Map(['a', 'b', 'c', 'd', 'e'].map((model) => [model, OTHER_UNIVERSE])),
    },
    `${LEADS}; ${CHANCE}. ${MADE} Not compared: a, b, c and 2 more (each: its universe is not that of b).`,
  ],
  [
    { models: [deepseek, one('qwen', none)] },
    `deepseek made +3.20 % over 55 days; no other model can be compared with it. ${MADE}`,
  ],
  [{ models: unknown, days: many(10) }, `${TAKES} are 10.`],
  [{ models: unknown, days: many(1) }, `${TAKES} is 1.`],
  [{ models: unknown, days: [] }, `${TAKES} are none.`],
  [{ models: unknown, days: many(30) }, 'No leader can be named over these 30 days.'],
  [{ models: [one('a', none)] }, 'A comparison needs two models; there is one.'],
  [{ models: [] }, 'A comparison needs two models; there is none.'],
];

test('who leads, whether that could be chance, and what the benchmark made, in one answer', () => {
  for (const [more, sentence] of answers) {
    const facts: AnswerFacts = {
      models: [qwen, deepseek],
      leads,
      barred: null,
      benchmark: { name: 'QQQ', totalReturn: 0.021 },
      days: many(55),
      suspected: new Map(),
      leftOut: new Map(),
      ...more,
    };
    const { sentence: said, left_out: named } = reportAnswer(facts);
    assert.equal(said, sentence);
    const all = new Set([...facts.suspected.keys(), ...facts.leftOut.keys()]);
    assert.deepEqual(named, [...all], sentence);
  }
});
