import assert from 'node:assert/strict';
import { test } from 'node:test';
import { restOfSummary } from '../../src/browser/pages/model-day-page.ts';
import {
  chance,
  change,
  cost,
  count,
  duration,
  longDate,
  money,
  pValue,
  price,
  profit,
  share,
  tone,
} from '../../src/browser/format.ts';
import {
  axisSplits,
  dateLabels,
  dateTicks,
  paddedRange,
  withoutEmptyCents,
} from '../../src/browser/plot/scale.ts';

const texts: [text: string, expected: string][] = [
  [money(10_113.04), '10,113.04'],
  [money(null), '–'],
  [money(Number.NaN), '–'],
  [price(237), '237.00'],
  [price(237.4512), '237.4512'],
  [profit(113.04), '+113.04'],
  [profit(-3), '−3.00'],
  [profit(0), '0.00'],
  [profit(0.001), '0.00'],
  [change(0.0113), '+1.13 %'],
  [change(-0.0004), '−0.04 %'],
  [share(0.25), '25.00 %'],
  [count(12_345), '12,345'],
  [chance(0.414), '41 %'],
  [chance(0.0049), '<1 %'],
  [chance(1), '>99 %'],
  [chance(null), '–'],
  [pValue(0.71), '0.710'],
  [pValue(0.00099), '<0.001'],
  [pValue(1), '1.000'],
  [cost(0.0862), '$0.0862'],
  [cost(1234.5), '$1,234.50'],
  [cost(0), '$0'],
  [cost(null), '–'],
  [duration(0.42), '0.4 s'],
  [duration(31.4), '31 s'],
  [duration(312), '5 min 12 s'],
  [duration(59.9), '1 min 0 s'],
  [duration(3599.7), '1 h 0 min'],
  [longDate('2025-09-15'), 'Mon 15 Sep 2025'],
  [longDate('yesterday'), 'yesterday'],
  [tone(-1), 'loss'],
  [tone(null), 'flat'],
];

test('numbers and dates are formatted for people', () => {
  assert.deepEqual(
    texts.map(([text]) => text),
    texts.map(([, expected]) => expected),
  );
});

test('an axis is labelled with round values inside its range', () => {
  assert.deepEqual(axisSplits(9_480, 11_120, 150), [9_500, 10_000, 10_500, 11_000]);
  assert.deepEqual(axisSplits(-0.028, 0, 150), [-0.02, -0.01, 0]);
  assert.deepEqual(axisSplits(-0.1788, 0.1182, 255), [-0.15, -0.1, -0.05, 0, 0.05, 0.1]);
  assert.deepEqual(axisSplits(-0.04, 0.9, 150), [0, 0.2, 0.4, 0.6, 0.8]);
  assert.deepEqual(axisSplits(5, 5, 150), [5]);
  assert.deepEqual(withoutEmptyCents(['10,000.00', '10,500.00']), ['10,000', '10,500']);
  assert.deepEqual(withoutEmptyCents(['−2.00 %', '−2.50 %']), ['−2.00 %', '−2.50 %']);
  const days = ['2025-12-30', '2025-12-31', '2026-01-02'];
  assert.deepEqual(dateLabels(days), [['30 Dec', '2025'], ['31 Dec'], ['2 Jan', '2026']]);
});

test('dates on an axis are every so many days or firsts of months, as many as have room', () => {
  const between = (first: string, last: string) => (width: number) =>
    dateTicks([first, last], width);
  const twoWeeks = between('2025-09-15', '2025-09-29');
  assert.deepEqual(twoWeeks(200), ['2025-09-15', '2025-09-22', '2025-09-29']);
  assert.equal(twoWeeks(1_000).length, 15);
  const year = between('2025-03-10', '2026-03-10');
  assert.deepEqual(year(260), ['2025-04-01', '2025-07-01', '2025-10-01', '2026-01-01']);
  for (const width of [150, 300, 700, 1_400])
    for (const last of ['2025-03-10', '2025-05-01', '2027-01-01', '2045-03-10'])
      assert.ok(
        dateTicks(['2025-03-10', last], width).length * 60 <= width + 62,
        `${width} ${last}`,
      );
  assert.deepEqual(dateTicks([], 500), []);
});

test('a plot has a margin above and below; a flat or empty one is still drawn', () => {
  assert.deepEqual(paddedRange([200, 100, 150]), [94, 206]);
  for (const isLog of [true, false])
    for (const values of [[], [7], [0, 0]]) {
      const [bottom, top] = paddedRange(values, isLog);
      assert.ok(bottom < top && (!isLog || bottom > 0), `${values} ${isLog}`);
    }
});

/** The last message, the summary → what a page shows of the summary beside the conversation. */
const summaries: [last: string | null, summary: string | null, shown: string | null][] = [
  ['I bought.', 'I bought.', null],
  ['I bought.\n', ' I bought.', null],
  ['I bought.', 'I bought.\n\nThe answer was cut off.', 'The answer was cut off.'],
  [
    '',
    'Reached the limit of 3 steps; the day ended there.',
    'Reached the limit of 3 steps; the day ended there.',
  ],
  [
    'I look.',
    'Reached the limit of 3 steps; the day ended there.',
    'Reached the limit of 3 steps; the day ended there.',
  ],
  [null, 'Done.', 'Done.'],
  ['I bought.', null, null],
];
test('a summary that is the last message is not shown again', () => {
  for (const [last, session_summary, shown] of summaries) {
    const conversation =
      last === null
        ? null
        : ([
            { role: 'user', content: 'x' },
            { role: 'assistant', content: last },
            { role: 'tool', content: 'y' },
          ] as const);
    assert.equal(
      restOfSummary({ session_summary, conversation }),
      shown,
      `${last} / ${session_summary}`,
    );
  }
});
