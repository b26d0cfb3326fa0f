import type { ResultsRecord } from '../service/responses.ts';

/** One model-day as its records show it: what was done, and the portfolio at its end. */
export interface Day {
  date: string;
  jobId: string;
  records: readonly ResultsRecord[];
  close: ResultsRecord;
}

/** The model-days of one model, in order, from its records (which come by date and action). */
export function daysOf(records: readonly ResultsRecord[]): Day[] {
  return [...Map.groupBy(records, ({ date }) => date)].flatMap(([date, own]) => {
    const close = own.at(-1);
    return close === undefined ? [] : [{ date, jobId: close.job_id, records: own, close }];
  });
}

/** A holding as it was from one day to another: the same number of shares on every model-day between. */
export interface Span {
  symbol: string;
  quantity: number;
  from: number;
  to: number;
}

/** The holdings at the close, day by day, drawn together where nothing changed; `from` and `to` are places in `days`. */
export function holdingSpans(days: readonly Day[]): Span[] {
  const spans: Span[] = [];
  const open = new Map<string, Span>();
  days.forEach(({ close }, index) => {
    const held = new Map(close.holdings.map(({ symbol, quantity }) => [symbol, quantity]));
    for (const [symbol, span] of open) if (held.get(symbol) !== span.quantity) open.delete(symbol);
    for (const [symbol, quantity] of held) {
      const span = open.get(symbol) ?? { symbol, quantity, from: index, to: index };
      span.to = index;
      if (!open.has(symbol)) spans.push(span);
      open.set(symbol, span);
    }
  });
  return spans;
}

/** How far each value lies below the highest one before it, as a fraction of that: 0 at a high, -0.1 ten percent below. */
export function drawdowns(values: readonly number[], start: number): number[] {
  let high = start;
  return values.map((value) => {
    high = Math.max(high, value);
    return high === 0 ? 0 : value / high - 1;
  });
}
