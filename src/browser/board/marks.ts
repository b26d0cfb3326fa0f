import { counted } from '../format.ts';
import type { ModelReport } from '../responses.ts';

/**
 * Why a model should not simply be compared with the others: in a few words for its row, and in a
 * sentence.
 */
export interface RowMark {
  words: string;
  reason: string;
}

type Marked = Pick<
  ModelReport,
  | 'incomparable'
  | 'start_date'
  | 'end_date'
  | 'stale_model_days'
  | 'failed_model_days'
  | 'days_before_cutoff'
  | 'knowledge_cutoff'
>;

type Kind = ModelReport['incomparable'][number]['kind'];

const WORDS: Record<Kind, (report: Marked) => string> = {
  period: ({ start_date: first, end_date: last }) => `other period: ${first} to ${last}`,
  missing_days: () => 'missing days',
  stale: ({ stale_model_days: days }) => counted(days, 'stale day'),
  costs: () => 'other trading costs',
  universe: () => 'other universe',
  initial_cash: () => 'other initial cash',
  dividends: () => 'dividends treated differently',
};

/** The marks of a model's row, what makes it incomparable first. */
export function marksOf(report: Marked): RowMark[] {
  const {
    incomparable,
    failed_model_days: failed,
    days_before_cutoff: early,
    knowledge_cutoff: cutoff,
  } = report;
  const marks = incomparable.map(({ kind, reason }) => ({ words: WORDS[kind](report), reason }));
  if (failed > 0) {
    const days = counted(failed, 'model-day');
    marks.push({
      words: counted(failed, 'failed day'),
      reason: `${days} failed and ${failed === 1 ? 'was' : 'were'} not completed since`,
    });
  }
  if (early > 0) {
    const days = counted(early, 'model-day');
    const reason = `${days} ${early === 1 ? 'is' : 'are'} not after its knowledge cutoff, ${cutoff}: it may remember those prices`;
    marks.push({ words: `${counted(early, 'day')} up to its knowledge cutoff`, reason });
  }
  return marks;
}
