import type { ReadableDocuments } from '#database/document-queries.ts';
import { withoutStudy } from '#domain/runs.ts';
import { toDollars } from '#money/money.ts';
import { describeTerms, type TermKind, termKinds, termNouns } from '#settings/terms.ts';
import { list } from '#text/sentences.ts';
import type { Missing } from '../comparison/difference.ts';
import type { PairSide, PairTermsReader } from '../comparison/answer.ts';
import type { TradingTerms } from '../performance/comparability.ts';
import { type Family, unusableReason } from './family.ts';

/** In what two models of different studies differ beside their names. */

/** What `differ` may name. */
export const differences = [...termKinds, 'documents'] as const;
export type TermDifference = (typeof differences)[number];

/** What the models of an experiment traded on, as `compareRuns` reads it. */
interface StudyTerms extends TradingTerms {
  differ: readonly TermDifference[];
}

/** A model as one of a pair. */
interface Side extends Family {
  /** Undefined where it has no figures. */
  terms: ReturnType<typeof describeTerms> | undefined;
}

/**
 * Of each pair of models, what tells them apart; and why there are no figures of all of them
 * together: those of one pair are not compared. The families are in the order of the request.
 */
export function compareStudies(
  families: readonly Family[],
  given: StudyTerms,
): { pairTerms: PairTermsReader; barred: Missing | null } {
  const sides = families.map((own): Side => ({ ...own, terms: readTerms(own, given) }));
  const pairTerms: PairTermsReader = (...models) => {
    const [one, other] = sides.filter(({ model }) => models.includes(model));
    if (one === undefined || other === undefined || one.study === other.study) return null;
    const kinds = findDifferences(one, other, given);
    const barred = findBarred(kinds, given);
    const isNamed = barred === null && kinds.length > 0;
    return {
      barred,
      sides: isNamed ? [pairSide(one, other, kinds), pairSide(other, one, kinds)] : null,
    };
  };
  const kinds = sides.flatMap((one, place) =>
    sides.slice(place + 1).flatMap((other) => findDifferences(one, other, given)),
  );
  return { pairTerms, barred: findBarred(kinds, given) };
}

/** Of two that have figures; those of one study differ in nothing that `differ` names. */
function findDifferences(one: Side, other: Side, { documents }: StudyTerms): TermDifference[] {
  const [terms, others] = [one.terms, other.terms];
  if (one.study === other.study || !terms || !others) return [];
  return differences.filter((kind) =>
    kind === 'documents'
      ? readOtherDocuments([one, other], documents)
      : terms[kind][0] !== others[kind][0],
  );
}

/** Why models that differ in these respects have no figures; null where `differ` names them all. */
function findBarred(found: readonly TermDifference[], { differ }: StudyTerms): Missing | null {
  const kinds = differences.filter((kind) => found.includes(kind));
  const unnamed = kinds.filter((kind) => !differ.includes(kind));
  const words = list(unnamed.map((kind) => kind.replace('_', ' ')));
  const reason = `Their studies differ in ${words}: to compare them anyway, use differ=${kinds.join()}`;
  return unnamed.length === 0 ? null : { reason };
}

/** By its terms, or by its study where the words for both are the same. */
function pairSide(own: Side, other: Side, kinds: readonly TermDifference[]): PairSide {
  const { model, study } = own;
  const name = study ?? 'without a name';
  const terms = kinds.map((kind) => {
    if (kind === 'documents') return `the documents of the study ${name}`;
    const [words = '', others] = [own, other].map(({ terms }) => terms?.[kind][1]);
    if (words !== others) return termPhrases[kind](words);
    return `the ${termNouns[kind]} of the study ${name}`;
  });
  return { model, name: withoutStudy(model, study), terms: terms.join(' and ') };
}

/** Of the latest day of a family, since one whose terms have changed has no figures. */
function readTerms(family: Family, { configurations, initialCash }: StudyTerms): Side['terms'] {
  const [first] = family.runs;
  const configuration = configurations.get(first?.days.at(-1)?.jobId ?? '');
  if (unusableReason(family) !== null || configuration === undefined) return undefined;
  const cash = initialCash.get(first?.run ?? '') ?? null; // with which its ledger began
  return describeTerms({
    ...configuration,
    ...(cash !== null && { initial_cash: toDollars(cash) }),
  });
}

const withoutAny = (words: string, noun: string) =>
  words === 'none' ? `no ${noun}` : `${noun} of ${words}`;

/** What follows "with", by the wording of a term. */
const termPhrases: Record<TermKind, (words: string) => string> = {
  costs: (words) => withoutAny(words, 'trading costs'),
  universe: (words) => `a universe of ${words}`,
  initial_cash: (words) => `${words} of initial cash`,
  dividends: (words) => `dividends ${words}`,
  open: (words) => `the open ${words}`,
  limits: (words) => withoutAny(words, 'limits on orders'),
  market: (words) => `the market ${words}`,
  max_steps: (words) => words.replace(/(\d+)/, '$1 steps'),
};

/** Whether on a date that both have one could read other documents than the other. */
function readOtherDocuments(
  sides: readonly Side[],
  documents: readonly ReadableDocuments[],
): boolean {
  const names = new Set(sides.flatMap(({ runs }) => runs.map(({ run }) => run)));
  const own = documents.filter(({ model }) => names.has(model));
  const byDate = Map.groupBy(own, ({ date }) => date);
  return byDate
    .values()
    .some(([first, ...others]) => others.some(({ hash }) => hash !== first?.hash));
}
