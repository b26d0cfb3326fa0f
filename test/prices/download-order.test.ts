import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addDays, weekdayBefore, weekdays } from '../../src/core/time/calendar.ts';
import {
  dateOrder,
  downloadOrder,
  type Horizon,
  isBeyond,
  nextDate,
  noteRefusal,
  noteSupply,
} from '../../src/core/prices/download-order.ts';
import { inLongForm } from '../support/long.ts';
import { tableOf } from '../support/text-table.ts';

const DATES = weekdays('2025-11-03', '2025-11-10');

/** Days of November on which something is missing, `!` where the job needs it. */
const dateOrders = tableOf<[needs: string, order: string]>(`
                    |
  05 03             | 03 05
  03 05! 04 06!     | 05 06 03 04
  07! 04! 03        | 04 07 03
  04! 04 03         | 04 03`);
test('dates that the job needs are requested first, of each kind the earliest, and every date once', () => {
  for (const [text, order] of dateOrders) {
    const needs = [...text.matchAll(/(\d+)(!?)/g)].map(([, day, mark]) => ({
      ...{ date: `2025-11-${day}`, isRequired: mark === '!' },
    }));
    const found = dateOrder(needs).map((date) => date.slice(-2));
    assert.equal(found.join(' '), order, text);
  }
});

// And every date within is requested once.
test('the first date of a plan is found with a logarithm of refusals', inLongForm, () => {
  const span = fc.tuple(fc.integer({ min: 1, max: 64 }), fc.integer({ min: -3, max: 70 }));
  fc.assert(
    fc.property(span, ([length, begin]) => {
      const dates = weekdays('2025-01-06', addDays('2025-01-06', 400)).slice(0, length);
      const first = addDays('2025-01-06', Math.round((begin * 7) / 5));
      const horizon: Horizon = { refused: [], supplied: [] };
      const requested: string[] = [];
      for (;;) {
        const left = dates.filter((date) => !isBeyond(horizon, date) && !requested.includes(date));
        const date = nextDate(left, horizon);
        if (date === undefined) break;
        requested.push(date);
        if (date < first) noteRefusal(horizon, date);
        else noteSupply(horizon, date);
      }
      const within = requested.filter((date) => date >= first).sort();
      assert.deepEqual(
        within,
        dates.filter((date) => date >= first),
      );
      const refused = requested.length - within.length;
      assert.ok(refused <= Math.ceil(Math.log2(length)) + 2, `${refused} of ${length}`);
    }),
    { numRuns: 2_000 },
  );
});

/** The days that are beyond a plan after these refusals (`-07`) and supplies (`+05`) of November. */
function beyond(answers: string): string {
  const horizon: Horizon = { refused: [], supplied: [] };
  for (const answer of answers.split(' ')) {
    const note = answer.startsWith('-') ? noteRefusal : noteSupply;
    note(horizon, `2025-11-${answer.slice(1)}`);
  }
  const dates = DATES.filter((date) => isBeyond(horizon, date));
  return dates.map((date) => date.slice(-2)).join(' ');
}

test('older than one that was supplied, a refused date is too old; newer, it is too new', () => {
  assert.equal(beyond('-07'), '07', 'it may be either');
  assert.equal(beyond('-07 +05'), '07 10');
  assert.equal(beyond('-07 +05 -04'), '03 04 07 10');
  assert.equal(beyond('-04 -06'), '03 04 05 06', 'two before any supply are too old');
});

test('the weekday before a Monday is a Friday', () => {
  assert.equal(weekdayBefore('2025-12-01'), '2025-11-28');
  assert.equal(weekdayBefore('2025-11-28'), '2025-11-27');
});

/** By date the symbols that it misses. */
const symbolOrders = tableOf<[name: string, missing: string, order: string]>(`
  nothing is missing                             |                       |
  one symbol that all dates miss                 | A, A                  | A
  the date with the fewest missing symbols first | A B C, D              | D A B C
  what is there already counts                   | A B, A B C, D E       | A B C D E
  of equals the earliest date                    | B C, A, D             | A D B C
  every missing symbol once                      | A B C, B C D, C D E, A | A B C D E`);
test('symbols are requested in the order in which they complete dates', () => {
  for (const [name, missing, order] of symbolOrders) {
    const needs = missing.split(', ').map((own) => ({ missing: own.split(' ').filter(Boolean) }));
    assert.equal(downloadOrder(needs).join(' '), order, name);
  }
});
