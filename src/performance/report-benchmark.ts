import { type CalendarDate, addDays } from '../calendar.ts';
import type { ChosenDay } from '../database/records/performance.ts';
import { count } from '../sentences.ts';
import { at } from '../statistics/at.ts';
import { type ComparedDay, benchmarkCurve, startOf } from './benchmark.ts';
import { type Benchmark, UNIVERSE } from './choose-benchmark.ts';
import { rounded } from './figure.ts';
import { reportReturns } from './report-returns.ts';
import type { DividendStatus } from './report.ts';
import { seriesOf } from './returns.ts';

/**
 * A benchmark's own figures on the dates of some model-days, as in the response. `riskFree` is per
 * day.
 */
export function reportBenchmark(
  benchmark: Benchmark,
  days: readonly ChosenDay[],
  riskFree: number,
) {
  const { name, symbols, levels } = benchmark;
  const dates = [...new Set(days.map(({ date }) => date))].sort();
  const curve = benchmarkCurve(levels, days);
  const [first] = curve;
  const statuses = curve.map((day) => dividendStatus(day, benchmark));
  const countOf = (status: DividendStatus) => statuses.filter((one) => one === status).length;
  return {
    name,
    symbols,
    start_date: first === undefined ? null : startOf(first).date,
    days: curve.length,
    days_without_dividends: countOf('not_paid'),
    days_with_unknown_dividends: countOf('unknown'),
    incomplete: whyIncomplete(benchmark, { dates, covered: curve.map(({ date }) => date) }),
    ...reportReturns(seriesOf(curve), riskFree),
    curve: curve.map(({ date, value, dailyReturn }, index) => ({
      date,
      value: rounded(value),
      daily_return: rounded(dailyReturn),
      dividend_status: at(statuses, index),
    })),
  };
}

/** As of a model that held the benchmark from the start of a day to its close. */
function dividendStatus(
  { date, startDate, paysDividends }: ComparedDay,
  { unknownDividends }: Benchmark,
): DividendStatus {
  if (!paysDividends) return 'not_paid';
  for (let day = date; day > (startDate ?? date); day = addDays(day, -1)) {
    if (unknownDividends.has(day)) return 'unknown';
  }
  return 'known';
}

/** Why a benchmark does not cover all days of the models; null when it does. */
function whyIncomplete(
  { name, levels }: Benchmark,
  { dates, covered }: { dates: readonly CalendarDate[]; covered: readonly CalendarDate[] },
): string | null {
  const subject = name === UNIVERSE ? 'The universe' : name;
  const lastBar = levels.ofPrices.at(-1)?.date;
  if (dates.length === 0) return null;
  if (lastBar === undefined || covered.length === 0)
    return `${subject} has no price at the start of any of these days`;
  const sentences: string[] = [];
  if (covered.length < dates.length) {
    const span = `the first ${covered[0]}, the last ${covered.at(-1)}`;
    sentences.push(
      `${subject} has a return on ${covered.length} of ${count(dates.length, 'date')}: ${span}`,
    );
  }
  const after = dates.filter((date) => date > lastBar).length;
  const whose = name === UNIVERSE ? 'the universe' : name;
  if (after > 0)
    sentences.push(
      `The last price of ${whose} is that of ${lastBar}, before ${after} of ${count(dates.length, 'date')}`,
    );
  return sentences.join('. ') || null;
}
