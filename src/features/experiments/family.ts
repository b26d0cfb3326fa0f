import type { CalendarDate } from '#time/calendar.ts';
import { findBaseline } from '#settings/configuration-schema.ts';
import { parseAgentConfiguration } from '#settings/configuration.ts';
import { createRerunOptions } from '#database/stale.ts';
import type { Database } from '#database/database.ts';
import { storedConfigurations } from '../performance/run-queries.ts';
import {
  activeDaysWithReturns,
  type DayWithReturn,
  storedEntries,
} from '../performance/queries.ts';
import { requestHash, decodeEntry } from '#settings/entry.ts';
import { isDeterministic } from '#domain/runs.ts';
import type { JobWindow } from '#database/session-filters.ts';
import { staleness } from '../performance/comparability.ts';
import type { ChosenModel } from './selection.ts';

/** What a run was asked in a job, as far as it is stored. */
type AskedTerms = ReturnType<typeof readAsked>;

function readAsked(storedEntry: string, agentConfig: string) {
  const entry = decodeEntry(storedEntry);
  const configuration = parseAgentConfiguration(agentConfig);
  const baseline = findBaseline(entry);
  return {
    /** Equal where the job's terms do not differ in anything that can change what a model does. */
    terms: requestHash(null, configuration),
    /** The same of entry and terms. */
    way: requestHash(entry, configuration),
    universe: configuration.stock_symbols,
    knowledgeCutoff: entry.knowledge_cutoff,
    /** Whether it is an agent, which has a network of its own. */
    isAgent: entry.kind === 'agent',
    /** Whether all runs of the entry would be the same. */
    isDeterministic: baseline !== null && isDeterministic(baseline),
  };
}

/** A model-day with what its run was asked. */
interface AskedDay extends DayWithReturn {
  asked: AskedTerms;
}

/** A model with the days of its runs in the window. */
export type Family = ReturnType<typeof createFamily>;

/** Reads the days of the models' runs in the window. */
export function readFamilies(
  database: Database,
  models: readonly ChosenModel[],
  window: JobWindow,
): Family[] {
  const runs = [...new Set(models.flatMap((chosen) => chosen.runs))];
  const days = activeDaysWithReturns(database, runs, window);
  const jobIds = new Set([...days.values()].flatMap((own) => own.map(({ jobId }) => jobId)));
  const configurations = storedConfigurations(database, jobIds);
  // Each combination of entry and terms is read once.
  const known = new Map<string, AskedTerms>();
  const asked = new Map<string, AskedTerms>();
  for (const [jobId, run, entry] of storedEntries(database, { runs, jobIds })) {
    const configuration = configurations.get(jobId) ?? '{}';
    const key = `${entry} ${configuration}`;
    const own = known.get(key) ?? readAsked(entry, configuration);
    known.set(key, own);
    asked.set(`${jobId} ${run}`, own);
  }
  const askedDays = (run: string): AskedDay[] =>
    (days.get(run) ?? []).flatMap((day) => {
      const own = asked.get(`${day.jobId} ${run}`);
      return own === undefined ? [] : [Object.assign(day, { asked: own })];
    });
  const rerunOption = createRerunOptions(database);
  return models.map((chosen) => {
    const own = chosen.runs.map((run) => ({ run, days: askedDays(run) }));
    return createFamily(chosen, own, rerunOption);
  });
}

function createFamily(
  { model, study = null }: ChosenModel,
  runs: readonly { run: string; days: readonly AskedDay[] }[],
  rerunOption: (jobId: string) => string,
) {
  const days = [...familyDays({ runs })];
  const withCutoff = latestDay(days.filter(({ asked }) => asked.knowledgeCutoff !== null));
  return {
    model,
    study,
    /** At least one, each with its days by date. */
    runs,
    rerunOption,
    knowledgeCutoff: withCutoff?.asked.knowledgeCutoff ?? null,
    isAgent: days.some(({ asked }) => asked.isAgent),
    isDeterministic: runs.length > 0 && days.every(({ asked }) => asked.isDeterministic),
  };
}

/** The days of all its runs, run by run. */
export function familyDays({
  runs,
}: {
  runs: readonly { days: readonly AskedDay[] }[];
}): IteratorObject<AskedDay> {
  return runs.values().flatMap(({ days }) => days);
}

/** The earliest day; of several on its date, the first. */
export function earliestDay(days: Iterable<AskedDay>): AskedDay | undefined {
  let earliest: AskedDay | undefined;
  for (const day of days) if (earliest === undefined || day.date < earliest.date) earliest = day;
  return earliest;
}

/** The latest day; of several on its date, the last. */
export function latestDay(days: Iterable<AskedDay>): AskedDay | undefined {
  let latest: AskedDay | undefined;
  for (const day of days) if (latest === undefined || day.date >= latest.date) latest = day;
  return latest;
}

/** The same family with only its days after a date. */
export function daysAfter(family: Family, date: CalendarDate | null): Family {
  if (date === null) return family;
  const runs = family.runs.map(({ days, ...run }) => ({
    ...run,
    days: days.filter((day) => day.date > date),
  }));
  return { ...family, runs };
}

/** Why a family has no figures regardless of its returns; null when it can have some. */
export function unusableReason(family: Family): string | null {
  const [stale] = staleness(family.runs, family.rerunOption);
  if (stale !== undefined) return stale.reason;
  const advice = 'choose a window before or after the change';
  const asked =
    findChange(family, ({ asked: { terms } }) => [terms]) ??
    findChange(family, ({ asked: { way } }) => [way]);
  if (asked !== null) {
    const { before, after } = asked;
    const words = `the request for ${after.model} on ${after.date} differs from the request for`;
    return `It was called in two ways: ${words} ${before.model} on ${before.date}; ${advice}`;
  }
  const served = findChange(family, ({ servedBy }) => servedBy);
  if (served === null) return null;
  const { before, after, first, other } = served;
  const words = `${other} answered ${after.model} on ${after.date}, and ${first} ${before.model} on`;
  return `It was served by two models: ${words} ${before.date}; ${advice}`;
}

/**
 * The first day with a key, and the first with another one; null when there are no two. Days
 * without a key do not count.
 */
function findChange(family: Family, keysOf: (day: AskedDay) => readonly string[]) {
  const before = earliestDay(familyDays(family).filter((day) => keysOf(day).length > 0));
  const [first] = before === undefined ? [] : keysOf(before);
  const otherKey = (day: AskedDay) => keysOf(day).find((key) => key !== first);
  const after = earliestDay(familyDays(family).filter((day) => otherKey(day) !== undefined));
  if (before === undefined || after === undefined) return null;
  return { before, after, first, other: otherKey(after) };
}
