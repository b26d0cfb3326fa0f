import { holdsPart } from '../basics/domain.ts';
import { pricesNow } from '../database/price-writes.ts';
import { count } from '../basics/sentences.ts';
import type { Reader } from '../database/database.ts';
import { quotesOn } from '../database/market.ts';
import type { SuspectedSplit } from '../database/records/holdings.ts';
import { jumpsInWords } from '../prices/warnings.ts';
import type { Incomparability } from './comparability.ts';
import type { ModelRecord } from './record.ts';
import type { reportModel } from './report.ts';

/** What makes the figures of a model mislead even beside no other model. */

type Figures = ReturnType<typeof reportModel>;

/** What its record does not tell of a model. */
interface Terms {
  database: Reader;
  basemodel: string | null;
  universe: readonly string[];
  suspected: readonly SuspectedSplit[];
}

export function ownMarks(record: ModelRecord, figures: Figures, terms: Terms): Incomparability[] {
  const marks = [
    ['suspected_split', suspicion(terms)],
    ['never_traded', silence(record, figures)],
    ['part_of_universe', shortfall(record, figures, terms)],
  ] as const;
  return marks.flatMap(([kind, reason]) => (reason === null ? [] : [{ kind, reason }]));
}

function suspicion({ suspected }: Terms): string | null {
  const jumps = [...new Set(suspected.map(({ jump }) => jump))];
  return jumps.length === 0
    ? null
    : `It held a symbol over a jump that may be an unknown split: ${jumpsInWords(jumps)}`;
}

function silence({ refusals: { tries } }: ModelRecord, { trading }: Figures): string | null {
  const reason = `It never traded, although it tried: ${count(tries, 'refused call')}`;
  return trading.trades > 0 || tries === 0 ? null : reason;
}

/** Baselines that would hold every symbol of their universe. */
const HOLD_ALL: readonly unknown[] = ['baseline/buy-and-hold', 'baseline/equal-weight'];

/** As its summary says it on the day on which it last bought. */
function shortfall(
  { ledger }: ModelRecord,
  { open_positions: positions }: Figures,
  { database, basemodel, universe }: Terms,
): string | null {
  const last = ledger.findLast(({ actions }) => actions.some((own) => own.actionType === 'buy'));
  if (last === undefined || !HOLD_ALL.includes(basemodel)) return null;
  const priced = quotesOn(pricesNow(database), last.date, universe).filter(
    ({ open }) => open !== null,
  );
  const held = priced.filter((own) => positions.some(({ symbol }) => symbol === own.symbol));
  return held.length === priced.length ? null : `It ${holdsPart(held.length, priced.length)}`;
}
