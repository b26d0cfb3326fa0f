/** The values of lines over session dates. */

/** Session dates have no hours: a plot's axis and zoom use whole days. */
export const DAY_SECONDS = 86_400;

/** The values of a curve on the dates; null on dates that it lacks. */
function valuesOn(
  dates: readonly string[],
  curve: readonly { date: string; value: number }[],
): (number | null)[] {
  const byDate = new Map(curve.map(({ date, value }) => [date, value]));
  return dates.map((date) => byDate.get(date) ?? null);
}

const DAY_MS = DAY_SECONDS * 1000;

/** The dates of curves with the weekday before the first one, on which all of them start. */
export function datesFromStart(dates: readonly string[]): string[] {
  const [first] = dates;
  if (first === undefined) return [];
  let start = Date.parse(first);
  do start -= DAY_MS;
  while ([0, 6].includes(new Date(start).getUTCDay()));
  return [new Date(start).toISOString().slice(0, 10), ...dates];
}

/** The values of a curve on the dates, with its value at the start on the date before its first. */
export function valuesFromStart(
  dates: readonly string[],
  curve: readonly { date: string; value: number }[],
  start: number,
): (number | null)[] {
  const values = valuesOn(dates, curve);
  const first = values.findIndex((value) => value !== null);
  return values.map((value, index) => (index === first - 1 ? start : value));
}

/** The places of the lines from the highest last value to the lowest; those without any value come last. */
export function rankOrder(lines: readonly { values: readonly (number | null)[] }[]): number[] {
  const last = lines.map(({ values }) => values.findLast((value) => value !== null) ?? -Infinity);
  return [...lines.keys()].sort((one, other) => (last[other] ?? 0) - (last[one] ?? 0) || one - other);
}
