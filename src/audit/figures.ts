import { type LedgerRecord, RECORDS_PER_STEP } from '../database/audit.ts';
import { type Evidence, marksIn } from '../database/evidence.ts';
import { type Money, formatDollars, money } from '../money.ts';
import { type Portfolio, valueOf } from '../trading/portfolio.ts';
import { percent } from '../trading/commit.ts';
import { type Steps, mapInSteps } from '../turns.ts';
import type { Note } from './notes.ts';

/**
 * Records with the portfolios they may have, as `replay` returns them, and the values that the day
 * may have started from.
 */
export interface Figures {
  records: readonly LedgerRecord[];
  portfolios: readonly (readonly Portfolio[])[];
  startValues: readonly Money[];
}

/**
 * Checks the amounts in a day's records: holdings valued at the closing marks, and the profit
 * against the value that the day started from. Returns what each record should be worth; null where
 * a price is missing.
 */
export function* checkFigures(
  { records, portfolios, startValues }: Figures,
  { evidence, note }: { evidence: Evidence; note: Note },
): Steps<(Money | null)[]> {
  const marks = marksIn(evidence);
  const isComplete = evidence.prices.every(({ close }) => close !== null);
  const check = ([index, record]: [number, LedgerRecord]) => {
    const [likeliest = null, ...others] =
      portfolios[index]?.map((portfolio) => valueAt(portfolio, marks)) ?? [];
    const worths = [likeliest, ...others].filter((worth) => worth !== null);
    const known = { isComplete: isComplete || worths.length > 0 };
    const noteHere = (sentence: string) => note(`action ${record.actionId}: ${sentence}`, known);
    checkRecord(record, { worths, startValues, note: noteHere });
    return likeliest;
  };
  return yield* mapInSteps(records.entries(), check, RECORDS_PER_STEP);
}

function checkRecord(
  { portfolioValue, dailyProfit, dailyReturnPct }: LedgerRecord,
  {
    worths,
    startValues,
    note,
  }: { worths: readonly Money[]; startValues: readonly Money[]; note: (sentence: string) => void },
): void {
  const [worth] = worths;
  if (worth === undefined) return note('portfolio_value cannot be recomputed: a price is missing');
  if (!worths.includes(portfolioValue))
    note(`portfolio_value is ${formatDollars(portfolioValue)}, should be ${formatDollars(worth)}`);
  // Compared with the right value and the stored one, so that one wrong figure is reported once.
  const profits = [worth, portfolioValue].flatMap((value) =>
    startValues.map((start) => ({ start, profit: money(value - start) })),
  );
  const fitting = profits.filter(({ profit }) => profit === dailyProfit);
  if (fitting.length === 0)
    note(
      `daily_profit is ${formatDollars(dailyProfit)}, should be ${formatDollars(profits[0]?.profit ?? worth)}`,
    );
  const returns = (fitting.length === 0 ? profits : fitting).map(({ start, profit }) =>
    start === 0 ? null : percent(profit / start),
  );
  if (!returns.includes(dailyReturnPct))
    note(`daily_return_pct is ${dailyReturnPct}, should be ${returns[0]}`);
}

/** The value of a portfolio; null when a mark is missing. */
function valueAt(portfolio: Portfolio, marks: ReadonlyMap<string, Money>): Money | null {
  return [...portfolio.holdings.keys()].every((symbol) => marks.has(symbol))
    ? valueOf(portfolio, marks)
    : null;
}
