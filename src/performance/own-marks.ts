import { holdsPart } from '../basics/domain.ts';
import { reported, toDollars } from '../basics/money.ts';
import { count } from '../basics/sentences.ts';
import type { SuspectedSplit } from '../database/records/holdings.ts';
import { jumpsInWords } from '../prices/warnings.ts';
import type { Incomparability } from './comparability.ts';
import type { ModelRecord } from './record.ts';
import type { reportModel } from './report.ts';

/** What makes the figures of a model mislead even beside no other model. */

type Figures = ReturnType<typeof reportModel>;

/** What its record does not tell of a model. */
interface Terms {
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

function silence({ refusals }: ModelRecord, { trading }: Figures): string | null {
  const { orders, malformed, tries } = refusals;
  const calls = `${count(orders, 'refused order')} and ${count(malformed, 'malformed call')}`;
  return trading.trades > 0 || tries === 0 ? null : `It never traded, although it tried: ${calls}`;
}

/** Baselines that would hold every symbol of their universe. */
const HOLD_ALL: readonly unknown[] = ['baseline/buy-and-hold', 'baseline/equal-weight'];

function shortfall(
  { markOf }: ModelRecord,
  { end_value: value, open_positions: positions }: Figures,
  { basemodel, universe }: Terms,
): string | null {
  if (!HOLD_ALL.includes(basemodel)) return null;
  const held = new Set(positions.map(({ symbol }) => symbol));
  const part = value / (held.size + 1);
  const others = universe.filter(
    (symbol) => !held.has(symbol) && toDollars(markOf(symbol) ?? reported(0)) > part,
  );
  return held.size === 0 || others.length === 0
    ? null
    : `It ${holdsPart(held.size, held.size + others.length)}`;
}
