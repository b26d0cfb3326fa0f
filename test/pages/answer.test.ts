import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf } from '../../src/browser/pages/answer.ts';
import type { ComparedModel, Comparison } from '../../src/browser/responses.ts';
import {
  comparedModel,
  comparedPair,
  comparisonAnswer,
  modelWithout,
} from '../support/comparison-answer.ts';

const [deepseek, qwen] = [comparedModel('deepseek', [0.032]), comparedModel('qwen', [0.014])];
const pairs = [comparedPair('deepseek', 'qwen', 0.018, { interval: { low: -0.016, high: 0.053 } })];

const answers: [name: string, models: ComparedModel[], more: Partial<Comparison>, words: string][] =
  [
    [
      'a lead that could be chance',
      [deepseek, qwen],
      { pairs },
      'deepseek leads with +3.20 % over 55 days; its lead of +1.80 % over qwen could be chance (−1.60 % to +5.30 %).',
    ],
    [
      'a lead that is shown, in a pair that names the other model first',
      [qwen, deepseek],
      {
        pairs: [
          comparedPair('qwen', 'deepseek', -0.2, {
            interval: { low: -0.5, high: -0.1 },
            shown: true,
          }),
        ],
      },
      'deepseek leads with +3.20 % over 55 days, ahead of qwen by more than chance: +25.00 % (+11.11 % to +100.00 %).',
    ],
    [
      'the same every day',
      [deepseek, comparedModel('twin', [0.032])],
      {
        pairs: [comparedPair('deepseek', 'twin', 0, { difference: null, interval: null })],
      },
      'deepseek leads with +3.20 % over 55 days, level with twin.',
    ],
    [
      'a lead without an interval',
      [deepseek, qwen],
      { pairs: [comparedPair('deepseek', 'qwen', 0.018, { interval: null })] },
      'deepseek leads with +3.20 % over 55 days; its lead of +1.80 % over qwen could be chance.',
    ],
    [
      'one model with figures',
      [deepseek, modelWithout('qwen', 'Stale')],
      {},
      'deepseek made +3.20 % over 55 days; no other model can be compared with it.',
    ],
    [
      'too few days',
      [modelWithout('deepseek', 'Few'), modelWithout('qwen', 'Few')],
      { days: 10 },
      'To say whether a difference could be chance needs 20 days in common; there are 10.',
    ],
    [
      'one run of a model, whose interval may be wider',
      [deepseek, qwen],
      {
        pairs: [{ ...(pairs[0] as (typeof pairs)[0]), interval_is_lower_bound: true }],
      },
      'deepseek leads with +3.20 % over 55 days; its lead of +1.80 % over qwen could be chance (−1.60 % to +5.30 % or wider).',
    ],
    [
      'all against one, which is not the second',
      [deepseek, comparedModel('second', [0.03]), qwen],
      { pairs: [...pairs, comparedPair('second', 'qwen', 0.016)] },
      'deepseek leads with +3.20 % over 55 days; its lead of +1.80 % over qwen could be chance (−1.60 % to +5.30 %).',
    ],
    [
      'days enough, of models that cannot be compared',
      [modelWithout('deepseek', 'Flat'), modelWithout('qwen', 'Flat')],
      { days: 30 },
      'No two models can be compared over these 30 days.',
    ],
    [
      'no day in common',
      [modelWithout('deepseek', 'Few'), modelWithout('qwen', 'Few')],
      { days: 0 },
      'To say whether a difference could be chance needs 20 days in common; there are none.',
    ],
    [
      'a single day',
      [modelWithout('deepseek', 'Few'), modelWithout('qwen', 'Few')],
      { days: 1 },
      'To say whether a difference could be chance needs 20 days in common; there is 1.',
    ],
  ];

test('who leads, and whether that could be chance, in one sentence', () => {
  for (const [name, models, more, words] of answers)
    assert.equal(
      answerOf({ ...comparisonAnswer(models, 55), ...more }),
      words.replaceAll(' %', '\u00a0%'),
      name,
    );
  assert.equal(answerOf(comparisonAnswer([], 0)), null);
  assert.equal(answerOf(comparisonAnswer([modelWithout('one', 'Few')], 5)), null);
});
