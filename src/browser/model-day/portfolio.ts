import { h } from '../element.ts';
import { count, longDate, money, profit } from '../format.ts';
import type { Session } from '../responses.ts';
import { table } from '../table.ts';
import { section } from '../ui.ts';
import { type Day, sharesIn } from './day.ts';

/** In dollars: smaller differences are floating-point errors. */
const SMALLEST = 0.00005;

interface Row {
  name: string;
  before: number;
  after: number;
  format: (value: number) => string;
  formatChange: (value: number) => string;
}

/** Cash, holdings and value before the day and at its close, side by side. */
export function portfolio({ close }: Day, opening: NonNullable<Session['opening']>): HTMLElement {
  const dollars = { format: money, formatChange: profit };
  const had = sharesIn(opening);
  const has = sharesIn(close);
  const { cash, portfolio_value: value } = opening;
  const holdings = [...new Set([...had.keys(), ...has.keys()])].sort().map((name): Row => {
    return {
      name,
      before: had.get(name) ?? 0,
      after: has.get(name) ?? 0,
      format: count,
      formatChange: countChange,
    };
  });
  const start =
    opening.date === null ? 'the initial cash' : `the close of ${longDate(opening.date)}`;
  const words = `Holdings in shares, cash and value in dollars. Before: ${start}. After: the close of the day.`;
  const content = table<Row>({
    caption: 'Portfolio',
    rows: [{ name: 'Cash', before: cash, after: close.cash, ...dollars }, ...holdings],
    footer: [{ name: 'Value', before: value, after: close.portfolio_value, ...dollars }],
    columns: [
      { title: 'Holding', isName: true, cell: ({ name }) => name },
      { title: 'Before', isNumber: true, cell: ({ before, format }) => format(before) },
      { title: 'After', isNumber: true, cell: ({ after, format }) => format(after) },
      { title: 'Change', isNumber: true, cell: changeIn },
    ],
  });
  return Object.assign(section('Portfolio', h('p.quiet', words), content), {
    className: 'portfolio',
  });
}

function changeIn({ before, after, formatChange }: Row): string {
  const difference = after - before;
  return Math.abs(difference) < SMALLEST ? '' : formatChange(difference);
}

function countChange(shares: number): string {
  return `${shares > 0 ? '+' : ''}${count(shares)}`;
}
