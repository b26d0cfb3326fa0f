import { holdsPart } from '../basics/domain.ts';
import { pricesNow } from '../database/price-writes.ts';
import { count } from '../basics/sentences.ts';
import type { Reader } from '../database/database.ts';
import { quotesOn } from '../database/market.ts';
import type { SuspectedSplit } from '../database/records/holdings.ts';
import { jumpsInWords } from '../prices/warnings.ts';
import type { Incomparability } from './comparability.ts';
import type { ModelRecord } from './record.ts';

/** What the marks of a model are made of, beside its record. */
interface Terms {
  database: Reader;
  basemodel: string | null;
  universe: readonly string[];
  suspected: readonly SuspectedSplit[];
  trades: number;
  /** The symbols of its open positions. */
  held: readonly string[];
}

/** Baselines that would hold every symbol of their universe. */
const HOLD_ALL: readonly unknown[] = ['baseline/buy-and-hold', 'baseline/equal-weight'];

/** What makes the figures of a model mislead even beside no other model. */
export function ownMarks({ ledger, refusals: { tries } }: ModelRecord, terms: Terms) {
  const marks: Incomparability[] = [];
  const mark = (kind: Incomparability['kind'], reason: string) => marks.push({ kind, reason });
  const jumps = [...new Set(terms.suspected.map(({ jump }) => jump))];
  if (jumps.length > 0)
    mark(
      'suspected_split',
      `It held a symbol over a jump that may be an unknown split: ${jumpsInWords(jumps)}`,
    );
  if (terms.trades === 0 && tries > 0)
    mark('never_traded', `It never traded, although it tried: ${count(tries, 'refused call')}`);
  // As its summary says it on the day on which it last bought.
  const last = ledger.findLast(({ actions }) => actions.some((own) => own.actionType === 'buy'));
  if (last === undefined || !HOLD_ALL.includes(terms.basemodel)) return marks;
  const quotes = quotesOn(pricesNow(terms.database), last.date, terms.universe);
  const priced = quotes.filter(({ open }) => open !== null);
  const held = priced.filter(({ symbol }) => terms.held.includes(symbol));
  if (held.length < priced.length)
    mark('part_of_universe', `It ${holdsPart(held.length, priced.length)}`);
  return marks;
}
