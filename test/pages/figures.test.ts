import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as format from '../../src/features/pages/browser/format.ts';
import { restOfSummary } from '../../src/features/pages/browser/pages/model-day-page.ts';
import {
  valueTicks,
  dateLabels,
  dateTicks,
  paddedRange,
  trimEmptyCents,
} from '../../src/features/pages/browser/plot/scale.ts';
import { tableOf } from '../support/text-table.ts';

test('numbers and dates are formatted for people', () => {
  const rows: [write: (value: any) => string, ...pairs: [value: unknown, words: string][]][] = [
    [format.money, [10_113.04, '10,113.04'], [null, '–'], [Number.NaN, '–'], [-0.001, '0.00']],
    [format.price, [-0.00001, '0.00'], [237, '237.00'], [237.4512, '237.4512']],
    [format.profit, [113.04, '+113.04'], [-3, '−3.00'], [0, '0.00'], [0.001, '0.00']],
    [format.change, [0.0113, '+1.13 %'], [-0.0004, '−0.04 %'], [-0.00001, '0.00 %']],
    [format.share, [0.25, '25.00 %'], [-0.00001, '0.00 %']],
    [format.wholeNumber, [12_345, '12,345'], [-0.1, '0']],
    [format.chance, [0.414, '41 %'], [0.0049, '<1 %'], [1, '>99 %'], [null, '–']],
    [format.pValue, [0.71, '0.710'], [0.00099, '<0.001'], [1, '1.000']],
    [format.cost, [0.0862, '$0.0862'], [1234.5, '$1,234.50'], [0, '$0'], [null, '–']],
    [format.duration, [0.42, '0.4 s'], [31.4, '31 s'], [312, '5 min 12 s']],
    [format.duration, [59.9, '1 min 0 s'], [3599.7, '1 h 0 min']],
    [format.longDate, ['2025-09-15', 'Mon 15 Sep 2025'], ['yesterday', 'yesterday']],
    [format.tone, ['−1.00', 'loss'], ['–', 'flat'], ['+0.01 %', 'gain'], ['12.3', 'gain']],
    [(value) => format.tone(format.change(value)), [-0.00001, 'flat'], [-0.0001, 'loss']],
    [(value) => format.tone(format.profit(value)), [-0.001, 'flat'], [0.01, 'gain']],
  ];
  for (const [write, ...pairs] of rows)
    for (const [value, words] of pairs) assert.equal(write(value), words, `${write.name} ${value}`);
});

test('an axis is labelled with round values inside its range', () => {
  assert.deepEqual(valueTicks(9_480, 11_120, 150), [9_500, 10_000, 10_500, 11_000]);
  assert.deepEqual(valueTicks(-0.028, 0, 150), [-0.02, -0.01, 0]);
  assert.deepEqual(valueTicks(-0.1788, 0.1182, 255), [-0.15, -0.1, -0.05, 0, 0.05, 0.1]);
  assert.deepEqual(valueTicks(-0.04, 0.9, 150), [0, 0.2, 0.4, 0.6, 0.8]);
  assert.deepEqual(valueTicks(5, 5, 150), [5]);
  assert.deepEqual(trimEmptyCents(['10,000.00', '10,500.00']), ['10,000', '10,500']);
  assert.deepEqual(trimEmptyCents(['−2.00 %', '−2.50 %']), ['−2.00 %', '−2.50 %']);
  const days = ['2025-12-30', '2025-12-31', '2026-01-02'];
  assert.deepEqual(dateLabels(days), [['30 Dec', '2025'], ['31 Dec'], ['2 Jan', '2026']]);
});

test('every axis has at least two labels, and that of a drawdown at least three', () => {
  for (let exponent = -5; exponent < 5; exponent += 0.037) {
    const range = 10 ** exponent;
    for (const low of [0, range * 0.3, 97.3, 10_000])
      for (const height of [100, 150, 340]) {
        const { length } = valueTicks(low, low + range, height);
        assert.ok(length >= 2, `${low} to ${low + range} in ${height}`);
      }
    const [bottom, top] = paddedRange([-range, 0]);
    const labels = valueTicks(bottom, top, 150);
    assert.ok(labels.length >= 3 && labels.length <= 5 && labels.includes(0), `${labels}`);
  }
});

test('dates on an axis are every so many days or firsts of months, as many as have room', () => {
  const ticks = (last: string, width: number) => dateTicks(['2025-03-10', last], width);
  assert.deepEqual(ticks('2025-03-24', 200), ['2025-03-10', '2025-03-17', '2025-03-24']);
  assert.equal(ticks('2025-03-24', 1_000).length, 15);
  const firsts = ['2025-04-01', '2025-07-01', '2025-10-01', '2026-01-01'];
  assert.deepEqual(ticks('2026-03-10', 260), firsts);
  for (const width of [150, 300, 700, 1_400])
    for (const last of ['2025-03-10', '2025-05-01', '2027-01-01', '2045-03-10'])
      assert.ok(ticks(last, width).length * 60 <= width + 62, `${width} ${last}`);
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

test('a summary that is the last message is not shown again', () => {
  const limit = 'Reached the limit of 3 steps; the day ended there.';
  /** The last message, the summary, what a page shows of the summary; `none` where there is none. */
  const rows = tableOf<[last: string, summary: string, shown: string]>(`
    I bought.   | I bought.                             | none
    I bought.\\n | \\n I bought.                         | none
    I bought.   | I bought.\\n\\nThe answer was cut off.  | The answer was cut off.
                | ${limit}                              | ${limit}
    I look.     | ${limit}                              | ${limit}
    none        | Done.                                 | Done.
    I bought.   | none                                  | none`);
  for (const row of rows) {
    const texts = row.map((text) => (text === 'none' ? null : text.replaceAll('\\n', '\n')));
    const [last = null, session_summary = null, shown = null] = texts;
    const roles = { user: 'x', assistant: last, tool: 'y' };
    const messages = Object.entries(roles).map(([role, content]) => ({ role, content }));
    const conversation = last === null ? null : messages;
    // any: it reads no other field of a model-day
    assert.equal(restOfSummary({ session_summary, conversation } as any), shown, `${row}`);
  }
});
