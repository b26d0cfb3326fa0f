import { h } from '../element.ts';
import { count, money, price } from '../format.ts';
import type { ResultsRecord } from '../responses.ts';
import { numberColumn, table, textColumn } from '../table.ts';
import { section } from '../ui.ts';

/**
 * The executed orders, splits and dividends of one model-day, in the order in which they happened.
 */
export function tradesOfDay(records: readonly ResultsRecord[]): HTMLElement {
  const rows = records.filter(({ action_type }) => action_type !== 'no_trade');
  if (rows.length === 0) return section('Trades', h('p.quiet', 'The model did not trade.'));
  const columns = [
    numberColumn<ResultsRecord>('#', (row) => row.action_id, count),
    textColumn<ResultsRecord>('Action', (row) => row.action_type, {
      look: (row) => `action ${row.action_type}`,
    }),
    textColumn<ResultsRecord>('Symbol', (row) => row.symbol),
    numberColumn<ResultsRecord>('Shares', (row) => row.amount, count),
    numberColumn<ResultsRecord>('Price', (row) => row.price, price),
    numberColumn<ResultsRecord>('Cash after', (row) => row.cash, money),
  ];
  return section('Trades', table({ caption: 'Trades of the day', rows, isFixed: true, columns }));
}
