import { count, counted, money } from '../format.ts';
import type { Status } from '../responses.ts';
import { datesInWords } from './left-out.ts';

/** The terms of a job, each with its name. */
export function termsInWords({
  date_range,
  universe,
  terms,
  replace_existing,
}: Omit<Status, 'details'>): [string, string][] {
  const limit = terms.max_cost_usd;
  return [
    ['Dates', datesInWords(date_range)],
    ['Universe', `${universe ?? 'default'}, ${counted(terms.symbols.length, 'symbol')}`],
    ['Initial cash', `$${money(terms.initial_cash)}`],
    ['Commission', commission(terms)],
    [
      'Slippage',
      terms.slippage_bps > 0
        ? `orders fill ${basisPoints(terms.slippage_bps)} worse than the open`
        : 'none',
    ],
    ['Dividends', terms.dividends ? 'paid' : 'not paid'],
    ['Steps', `at most ${count(terms.max_steps)} per model-day`],
    [
      'Cost limit',
      limit === null
        ? 'none, unless an entry has its own'
        : `$${money(limit)} per model, unless its entry has another`,
    ],
    ['Existing results', replace_existing ? 'replaced' : 'kept: completed model-days are skipped'],
  ];
}

function commission({
  commission_per_trade: fixed,
  commission_bps: share,
}: Status['terms']): string {
  const parts = [
    ...(fixed > 0 ? [`$${money(fixed)}`] : []),
    ...(share > 0 ? [`${basisPoints(share)} of its value`] : []),
  ];
  return parts.length === 0 ? 'none' : `${parts.join(' and ')} per executed order`;
}

function basisPoints(number: number): string {
  return `${number} basis point${number === 1 ? '' : 's'}`;
}
