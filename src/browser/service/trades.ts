import { csvRows } from './csv-rows.ts';

/** An executed order, a split or a dividend, as the table of actions of `/performance` has it. */
export interface Trade {
  date: string;
  side: string;
  symbol: string;
  /** In shares; of a split, the shares that it added (negative: removed). */
  amount: number;
  /** Null for a split of which none is known. */
  price: number | null;
  /** After it. */
  cash: number;
  /** By how much it changed the cash: negative for a purchase. */
  cashChange: number;
}

/** The trades in a table of actions, in its order. */
export function tradesIn(csv: string): Trade[] {
  return csvRows(csv).map(
    ({ date = '', side = '', symbol = '', amount, price, cash, cash_change: cashChange }) => ({
      date,
      side,
      symbol,
      amount: Number(amount),
      price: price === undefined || price === '' ? null : Number(price),
      cash: Number(cash),
      cashChange: Number(cashChange),
    }),
  );
}
