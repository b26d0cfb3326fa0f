import { csvRows } from './csv-rows.ts';

/** An executed order or a dividend, as the table of trades of `/performance` has it. */
export interface Trade {
  date: string;
  side: string;
  symbol: string;
  /** In shares. */
  amount: number;
  price: number;
  /** After it. */
  cash: number;
  /** By how much it changed the cash: negative for a purchase. */
  cashChange: number;
}

/** The trades in a table of trades, in its order. */
export function tradesIn(csv: string): Trade[] {
  return csvRows(csv).map(({ date = '', side = '', symbol = '', amount, price, cash, cash_change: cashChange }) => ({
    date,
    side,
    symbol,
    amount: Number(amount),
    price: Number(price),
    cash: Number(cash),
    cashChange: Number(cashChange),
  }));
}
