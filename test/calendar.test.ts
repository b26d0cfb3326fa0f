import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  addDays,
  countDays,
  countWeekdays,
  utcDate,
  EARLIEST_DATE,
  isCalendarDate,
  isTooEarly,
  weekdays,
  weekdaysBefore,
} from '../src/core/time/calendar.ts';

test('a date is zero-padded and exists in the calendar', () => {
  const good = ['2025-01-05', '2024-02-29', '1999-12-31', '1900-01-01'];
  const bad = [
    ...['2025-1-5', '2025-01-5', '2025-02-30', '2023-02-29', '2025-13-01', '2025-00-10'],
    ...['2025/01/05', '0000-09-04', '0001-01-01', '1899-12-31', '20250105', '', ' 2025-01-05'],
    ...['2025-01-05\n', '2025-01-05T00:00:00Z', null, undefined, 20250105, ['2025-01-05']],
  ];
  for (const text of good) assert.equal(isCalendarDate(text), true, text);
  for (const text of bad) assert.equal(isCalendarDate(text), false, String(text));
});

test('a date before 1900 is too early, and other text is not a date', () => {
  const early = ['0000-01-01', '0001-01-01', '1896-02-29', '1899-12-31'];
  for (const text of early)
    assert.deepEqual([isTooEarly(text), isCalendarDate(text)], [true, false], text);
  for (const text of [EARLIEST_DATE, '2025-01-05', '1899-02-29', '1899-1-1', '', null])
    assert.equal(isTooEarly(text), false, String(text));
});

test('it knows the same dates as the ECMAScript calendar', () => {
  for (let day = Date.UTC(1900, 0, 1); day < Date.UTC(2104, 0, 1); day += 86_400_000) {
    assert.ok(isCalendarDate(new Date(day).toISOString().slice(0, 10)));
  }
  for (const year of [1900, 2000, 2023, 2024]) {
    for (let month = 0; month <= 13; month += 1) {
      for (let day = 0; day <= 32; day += 1) {
        const text = [year, String(month).padStart(2, '0'), String(day).padStart(2, '0')].join('-');
        const instant = new Date(Date.UTC(year, month - 1, day));
        assert.equal(isCalendarDate(text), instant.toISOString().startsWith(text), text);
      }
    }
  }
});

test('date arithmetic crosses months, years and leap days', () => {
  assert.equal(addDays('2024-02-28', 1), '2024-02-29');
  assert.equal(addDays('2025-01-01', -1), '2024-12-31');
  assert.equal(countDays('2025-01-01', '2025-01-30'), 30);
  assert.equal(countDays('2025-01-02', '2025-01-01'), 0);
});

test('weekdays leave out Saturdays and Sundays', () => {
  const days = ['2025-01-03', '2025-01-06', '2025-01-07'];
  assert.deepEqual(weekdays('2025-01-03', '2025-01-07'), days);
  assert.deepEqual(weekdays('2025-01-04', '2025-01-05'), []);
  assert.deepEqual(weekdays('2025-01-07', '2025-01-06'), []);
  assert.deepEqual(weekdaysBefore('2025-01-07', 3), ['2025-01-02', '2025-01-03', '2025-01-06']);
});

test('weekdays are counted as they are listed', () => {
  for (let days = -2; days < 30; days += 1) {
    for (const start of ['2025-01-01', '2025-01-03', '2025-01-04', '2025-01-05', '2025-01-06']) {
      const end = addDays(start, days);
      assert.equal(countWeekdays(start, end), weekdays(start, end).length, `${start} to ${end}`);
    }
  }
});

test('today is the UTC date, whatever the local zone', () => {
  assert.equal(utcDate(new Date('2025-01-05T23:59:59.999Z')), '2025-01-05');
  assert.equal(utcDate(new Date('2025-01-06T09:00:00+10:00')), '2025-01-05');
});
