import type { ReadableDocuments } from '#database/document-queries.ts';
import { parseRun, runName } from '#domain/runs.ts';
import { type Money, toDollars } from '#money/money.ts';
import type { AgentConfiguration } from '#settings/configuration-schema.ts';
import { describeTerms, type TermKind, termKinds, termNouns } from '#settings/terms.ts';
import { list } from '#text/sentences.ts';
import type { CalendarDate } from '#time/calendar.ts';
import type { Missing } from '../comparison/difference.ts';
import type { PairSide, PairTerms, PairTermsReader } from '../comparison/answer.ts';
import { type Family, unusableReason } from './family.ts';

/** In what two models of different studies differ beside their names. */

/** What `differ` may name. */
export const differences = [...termKinds, 'documents'] as const;
export type TermDifference = (typeof differences)[number];

/** What the models of an experiment traded on, as `compareRuns` reads it. */
interface StudyTerms {
  configurations: ReadonlyMap<string, AgentConfiguration>;
  initialCash: ReadonlyMap<string, Money | null>;
  documents: readonly ReadableDocuments[];
  /** The study of each model. */
  studies: ReadonlyMap<string, string | null>;
  differ: readonly TermDifference[];
}

/** A model as one of a pair. */
interface Side {
  family: Family;
  place: number;
  study: string | null;
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
  const sides = new Map(
    families.map((family, place): [string, Side] => {
      const study = given.studies.get(family.model) ?? null;
      return [family.model, { family, place, study, terms: readTerms(family, given) }];
    }),
  );
  const pairTerms: PairTermsReader = (...models) => {
    const [one, other] = models
      .flatMap((model) => sides.get(model) ?? [])
      .sort((first, second) => first.place - second.place);
    if (one === undefined || other === undefined || one.study === other.study) return null;
    return comparePair(one, other, given);
  };
  const all = [...sides.values()];
  const differing = all.flatMap((one, place) =>
    all.slice(place + 1).flatMap((other) => findDifferences(one, other, given)),
  );
  return { pairTerms, barred: findBarred(differing, given.differ) };
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
function findBarred(
  differing: readonly TermDifference[],
  differ: readonly TermDifference[],
): Missing | null {
  const kinds = differences.filter((kind) => differing.includes(kind));
  const unnamed = kinds.filter((kind) => !differ.includes(kind));
  if (unnamed.length === 0) return null;
  const words = list(unnamed.map((kind) => kind.replace('_', ' ')));
  return { reason: `Their studies differ in ${words}: ask with differ=${kinds.join()}` };
}

function comparePair(one: Side, other: Side, given: StudyTerms): PairTerms {
  const differing = findDifferences(one, other, given);
  const barred = findBarred(differing, given.differ);
  if (barred !== null) return { barred, sides: null };
  const side = (own: Side, theirs: Side): PairSide => {
    const { model } = own.family;
    const terms = differing.map((kind) => {
      const [words, others] = [own, theirs].map((one) =>
        kind === 'documents' ? '' : one.terms?.[kind][1],
      );
      if (words !== others && words !== undefined && kind !== 'documents')
        return termPhrases[kind](words);
      const noun = kind === 'documents' ? kind : termNouns[kind];
      return `the ${noun} of the study ${own.study ?? 'without a name'}`;
    });
    return { model, name: withoutStudy(model, own.study), terms: terms.join(' and ') };
  };
  const sides = differing.length === 0 ? null : ([side(one, other), side(other, one)] as const);
  return { barred: null, sides };
}

/** Of the latest day of a family, since one whose terms have changed has no figures. */
function readTerms(family: Family, { configurations, initialCash }: StudyTerms) {
  if (unusableReason(family) !== null) return undefined;
  const [first] = family.runs;
  const configuration = configurations.get(first?.days.at(-1)?.jobId ?? '');
  const cash = initialCash.get(first?.run ?? '') ?? null; // with which its ledger began
  return (
    configuration &&
    describeTerms(
      cash === null ? configuration : { ...configuration, initial_cash: toDollars(cash) },
    )
  );
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
  const hashes = new Map<CalendarDate, number>();
  return sides.some(({ family: { runs } }) =>
    documents.some(({ model, date, hash }) => {
      if (!runs.some(({ run }) => run === model)) return false;
      const before = hashes.get(date) ?? hash;
      hashes.set(date, before);
      return before !== hash;
    }),
  );
}

function withoutStudy(model: string, study: string | null): string {
  if (study === null) return model;
  const { family, run } = parseRun(model) ?? { family: model, run: 1 };
  return runName(family.slice(0, -study.length - 1), run);
}
