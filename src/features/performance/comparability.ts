import type { CalendarDate } from '#time/calendar.ts';
import type { AgentConfiguration } from '#settings/configuration-schema.ts';
import { US } from '#domain/market-rules.ts';
import { comparedTerms, describeTerms, termNouns } from '#settings/terms.ts';
import { suspectedKinds } from '#database/suspicion-queries.ts';
import { type Money, toDollars } from '#money/money.ts';
import type { ReadableDocuments } from '#database/document-queries.ts';
import { type RunDays, staleRemedy } from '#database/stale.ts';
import { amountWords, count, list } from '#text/sentences.ts';

/**
 * The respects in which a model's figures may not be comparable with the others', as
 * machine-readable codes.
 */
export const incomparabilityKinds = [
  'period',
  'missing_days',
  'stale',
  ...suspectedKinds.map((kind) => `suspected_${kind}` as const),
  'never_traded',
  'part_of_universe',
  ...comparedTerms,
  'documents',
] as const;

/** A respect in which a model is not comparable, and a sentence that explains it. */
export interface Incomparability {
  kind: (typeof incomparabilityKinds)[number];
  reason: string;
}

/** The terms under which the models traded. */
export interface TradingTerms {
  /** The configurations of all jobs that ran one of the days. */
  configurations: ReadonlyMap<string, AgentConfiguration>;
  /** By model; null when none of its days leads back to any. */
  initialCash: ReadonlyMap<string, Money | null>;
  documents: readonly ReadableDocuments[];
}

/** The days of a model that its figures cover. */
export interface ModelPeriod {
  model: string;
  /** The entry that it is a run of; sentences count entries. */
  family: string;
  start: CalendarDate;
  end: CalendarDate;
  days: number;
  jobIds: ReadonlySet<string>;
}

/**
 * The terms behind a model's figures. Two models are comparable where these are the same. By
 * respect: a key that is equal when the terms are, with its wording. Several when the model's jobs
 * differ.
 */
type Terms = ModelPeriod & Record<(typeof comparedTerms)[number], ReadonlyMap<string, string>>;

export type IncomparableModel = Incomparability & { model: string };

/**
 * What makes models incomparable with the others, except stale days, and the jobs in the universe
 * of most. The reference is the terms that most models share.
 */
export function findIncomparable(
  periods: readonly ModelPeriod[],
  terms: TradingTerms,
  /** Whether their days are not the same. */
  { haveOwnDays = true } = {},
) {
  // Thousands of models share a configuration, whose symbols are sorted once.
  const used = [...new Set(terms.configurations.values())];
  const words = new Map(used.map((configuration) => [configuration, describeTerms(configuration)]));
  const all = periods.map((period) => modelTerms(period, { ...terms, words }));
  const findings = [
    ...(haveOwnDays ? comparePeriods(all) : []),
    ...comparedTerms.flatMap((respect) => compareTerms(respect, all)),
    ...compareDocuments(terms.documents),
  ];
  const incomparable = new Map<string, Incomparability[]>();
  for (const { model, kind, reason } of findings)
    incomparable.set(model, [...(incomparable.get(model) ?? []), { kind, reason }]);
  const usual = usualTerms('universe', all);
  return { incomparable, usualJobs: new Set(usual.flatMap(({ jobIds }) => [...jobIds])) };
}

/** Stale days of a model's runs as a reason not to compare, with the remedy; empty without any. */
export function staleness(
  runs: readonly RunDays[],
  optionOf: (jobId: string) => string,
): Incomparability[] {
  const all = runs.flatMap(({ days }) => days);
  const stale = all.filter(({ isStale }) => isStale).length;
  if (stale === 0) return [];
  const these = `${stale} of its ${count(all.length, 'model-day')} ${stale === 1 ? 'is' : 'are'} stale`;
  const reason = `${these}: earlier results or prices changed afterwards; ${staleRemedy(runs, optionOf)}`;
  return [{ kind: 'stale', reason }];
}

type TermWords = ReturnType<typeof describeTerms>;

function modelTerms(
  period: ModelPeriod,
  {
    configurations,
    initialCash,
    words,
  }: TradingTerms & { words: ReadonlyMap<AgentConfiguration | undefined, TermWords> },
): Terms {
  const used = [...period.jobIds].flatMap((job) => words.get(configurations.get(job)) ?? []);
  const terms = comparedTerms.map((kind) => [kind, new Map(used.map((own) => own[kind]))]);
  const cash = initialCash.get(period.model) ?? null;
  const [job = ''] = period.jobIds;
  const { currency } = configurations.get(job)?.market ?? US;
  return {
    ...period,
    ...Object.fromEntries(terms),
    initial_cash: new Map(
      cash === null ? [] : [[`${cash}`, amountWords(currency, toDollars(cash))]],
    ),
  };
}

/**
 * Compares with the most common period; of several equally common ones, with the one that has the
 * most days.
 */
function comparePeriods(all: readonly Terms[]): IncomparableModel[] {
  const longestFirst = all.toSorted((one, other) => other.days - one.days);
  const usual = mostCommon(longestFirst, ({ start, end }) => `${start} ${end}`);
  const [most] = usual;
  if (most === undefined) return [];
  const names = entryNames(usual);
  return all.flatMap((own): IncomparableModel[] => {
    const { model } = own;
    if (own.start !== most.start || own.end !== most.end) {
      const reason = `Its period, ${periodText(own)}, is not that of ${names}, ${periodText(most)}`;
      return [{ model, kind: 'period', reason }];
    }
    if (own.days === most.days) return [];
    const reason = `It completed ${count(own.days, 'model-day')} in its period; ${most.model} completed ${most.days}`;
    return [{ model, kind: 'missing_days', reason }];
  });
}

function periodText({ start, end, days }: Terms): string {
  return `${start} to ${end} (${count(days, 'model-day')})`;
}

/** The models with the terms of most. */
function usualTerms(kind: (typeof comparedTerms)[number], all: readonly Terms[]): Terms[] {
  const single = all.filter((terms) => terms[kind].size === 1);
  return mostCommon(single, (terms) => [...terms[kind].keys()].join());
}

function compareTerms(
  kind: (typeof comparedTerms)[number],
  all: readonly Terms[],
): IncomparableModel[] {
  const usual = usualTerms(kind, all);
  const [most] = usual;
  const names = entryNames(usual);
  return all.flatMap((own): IncomparableModel[] => {
    const { model } = own;
    if (own[kind].size > 1)
      return [{ model, kind, reason: `Its ${termNouns[kind]} changed from one job to another` }];
    const [[key, words] = [null, '']] = own[kind];
    if (key === null || most === undefined || most[kind].has(key)) return [];
    const theirs = [...most[kind].values()].join();
    const verb = kind === 'costs' || kind === 'limits' ? 'are not those' : 'is not that';
    const difference = words === theirs ? '' : `: ${words} against ${theirs}`;
    return [{ model, kind, reason: `Its ${termNouns[kind]} ${verb} of ${names}${difference}` }];
  });
}

/** Compares with what most could read, date by date. */
function compareDocuments(documents: readonly ReadableDocuments[]): IncomparableModel[] {
  const others = [...Map.groupBy(documents, ({ date }) => date).values()].flatMap((all) => {
    const [usual] = mostCommon(all, ({ hash }) => `${hash}`);
    return all.filter(({ hash }) => hash !== usual?.hash);
  });
  return [...Map.groupBy(others, ({ model }) => model)].map(([model, days]) => {
    const dates = `${count(days.length, 'date')}, such as ${days[0]?.date}`;
    return {
      model,
      kind: 'documents',
      reason: `It could read other documents than the other models on ${dates}`,
    };
  });
}

function entryNames(terms: readonly Terms[]): string {
  const entries = new Set(terms.map(({ family }) => family));
  return list([...entries].slice(0, 1), { total: entries.size });
}

/** The largest group with the same key; the first of several that are equally large. */
function mostCommon<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[] {
  const groups = [...Map.groupBy(items, keyOf).values()];
  return groups.reduce<Item[]>(
    (largest, group) => (group.length > largest.length ? group : largest),
    [],
  );
}
