import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PairFacts, sentenceOf } from '../../src/comparison/difference.ts';

const example: PairFacts = {
  model: 'gpt-5',
  against: 'claude',
  difference: 0.0101,
  interval: { low: -0.047, high: 0.069 },
  days: 20,
  looks: 'once',
  isShown: false,
  isShownAsOnlyPair: false,
  pairs: 3,
  smallestDifference: 0.077,
  daysNeeded: 1180,
  singleRuns: [],
};

const table: [name: string, change: Partial<PairFacts>, sentence: string][] = [
  [
    'the example in the comment of sentenceOf',
    {},
    'gpt-5 is ahead of claude by 1.0 % over 20 days (−4.7 % to +6.9 %, for a single look): this could be chance. These 20 days can show 7.7 % or more; ' +
      'this would need about 1,180 days.',
  ],
  [
    'the one with the higher return comes first, with an interval of its own',
    { difference: -0.01, interval: { low: -0.2, high: 0.25 } },
    'claude is ahead of gpt-5 by 1.0 % over 20 days (−20.0 % to +25.0 %, for a single look): this could be chance. These 20 days can show 7.7 % or more; ' +
      'this would need about 1,180 days.',
  ],
  [
    'a difference that is shown',
    {
      difference: 0.152,
      interval: { low: 0.021, high: 0.29 },
      isShown: true,
      isShownAsOnlyPair: true,
      daysNeeded: 6,
    },
    'gpt-5 is ahead of claude by 15.2 % over 20 days (+2.1 % to +29.0 %, for a single look): this is more than chance. These 20 days can show 7.7 % or more.',
  ],
  [
    'a difference that would be shown if it were the only one',
    { isShownAsOnlyPair: true, pairs: 1225, daysNeeded: 15 },
    'gpt-5 is ahead of claude by 1.0 % over 20 days (−4.7 % to +6.9 %, for a single look): this could be chance. As the only pair it would be more than chance; the best of 1,225 ' +
      'pairs can look like this by chance. These 20 days can show 7.7 % or more.',
  ],
  [
    'more days cannot show it',
    { daysNeeded: { reason: 'More days cannot show it, more runs can' } },
    'gpt-5 is ahead of claude by 1.0 % over 20 days (−4.7 % to +6.9 %, for a single look): this could be chance. These 20 days can show 7.7 % or more; ' +
      'more days cannot show this, more runs can.',
  ],
  [
    'no difference at all',
    {
      difference: 0,
      interval: { low: -0.05, high: 0.05 },
      daysNeeded: { reason: 'There is no difference to show' },
    },
    'gpt-5 is level with claude over 20 days (−5.0 % to +5.0 %, for a single look). These 20 days can show 7.7 % or more.',
  ],
  [
    'a small difference keeps two digits, a large number of days three',
    { difference: 0.00012, daysNeeded: 25_200 },
    'gpt-5 is ahead of claude by 0.012 % over 20 days (−4.7 % to +6.9 %, for a single look): this could be chance. These 20 days can show 7.7 % or more; ' +
      'this would need about 25,200 days.',
  ],
  [
    'more than a hundred years are not counted in days',
    { difference: 0.00000001, daysNeeded: 25_201 },
    'gpt-5 is ahead of claude by 0.000001 % over 20 days (−4.7 % to +6.9 %, for a single look): this could be chance. These 20 days can show 7.7 % or more; ' +
      'this would need more than 100 years of trading days.',
  ],
  [
    'for every day at once',
    { looks: 'daily' },
    'gpt-5 is ahead of claude by 1.0 % over 20 days (−4.7 % to +6.9 %, whichever day you look): this could be chance. These 20 days can show 7.7 % or ' +
      'more; this would need about 1,180 days.',
  ],
  [
    'figures that are too large are left out',
    { interval: { reason: 'too large' }, smallestDifference: { reason: 'too large' } },
    'gpt-5 is ahead of claude by 1.0 % over 20 days (for a single look): this could be chance.',
  ],
  [
    'a difference whose opposite is too large for a number',
    { difference: -1, interval: { low: -1, high: -0.5 }, isShown: true },
    'claude is far ahead of gpt-5 over 20 days (for a single look): this is more than chance. These 20 days can show 7.7 % or more.',
  ],
  [
    'an end whose opposite is too large for a number',
    { difference: -0.01, interval: { low: -1, high: 0.25 } },
    'claude is ahead of gpt-5 by 1.0 % over 20 days (for a single look): this could be chance. These 20 days can show 7.7 % or more; this would need about 1,180 days.',
  ],
  [
    'a single run of either',
    { singleRuns: ['claude'] },
    'gpt-5 is ahead of claude by 1.0 % over 20 days (−4.7 % to +6.9 % or wider, for a single look): this could be chance. These 20 days can ' +
      'show 7.7 % or more; this would need about 1,180 days.',
  ],
];

test('a pair as one sentence for people', () => {
  for (const [name, change, sentence] of table)
    assert.equal(sentenceOf({ ...example, ...change }), sentence, name);
});
