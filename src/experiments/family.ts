import type { CalendarDate } from '../basics/calendar.ts';
import { baselineOf } from '../basics/configuration-schema.ts';
import { parseAgentConfiguration } from '../basics/configuration.ts';
import type { Database } from '../database/database.ts';
import { type DayOfRun, daysOfRun, storedRequests } from '../database/records/performance.ts';
import { askedHash, decodeEntry } from '../basics/entry.ts';
import { isDeterministic } from '../basics/runs.ts';
import type { JobWindow } from '../database/session-filters.ts';
import { staleness } from '../performance/comparability.ts';
import type { ChosenModel } from './selection.ts';

/** What a run was asked in a job, as far as it is stored. */
type Asked = ReturnType<typeof readAsked>;

/** What a run was asked in some jobs, by job. */
type AskedReader = (run: string, jobIds: Iterable<string>) => ReadonlyMap<string, Asked>;

/** Reads each combination of entry and terms once. */
function createAskedReader(database: Database): AskedReader {
  const known = new Map<string, Asked>();
  return (run, jobIds) =>
    new Map(
      storedRequests(database, run, jobIds).map(([jobId, entry, agentConfig]) => {
        const key = `${entry} ${agentConfig}`;
        const asked = known.get(key) ?? readAsked(entry, agentConfig);
        known.set(key, asked);
        return [jobId, asked];
      }),
    );
}

function readAsked(storedEntry: string, agentConfig: string) {
  const entry = decodeEntry(storedEntry);
  const configuration = parseAgentConfiguration(agentConfig);
  const baseline = baselineOf(entry);
  return {
    /** Equal where the job's terms do not differ in anything that can change what a model does. */
    terms: askedHash(null, configuration),
    /** The same of entry and terms. */
    way: askedHash(entry, configuration),
    universe: configuration.stock_symbols,
    knowledgeCutoff: entry.knowledge_cutoff,
    /** Whether it is an agent, which has a network of its own. */
    isAgent: entry.kind === 'agent',
    /** Whether all runs of the entry would be the same. */
    isDeterministic: baseline !== null && isDeterministic(baseline),
  };
}

/** A model-day with what its run was asked. */
interface AskedDay extends DayOfRun {
  asked: Asked;
}

/** A model with the days of its runs in the window. */
export type Family = ReturnType<typeof readFamily>;

/** Reads the days of the models' runs in the window. */
export function readFamilies(
  database: Database,
  models: readonly ChosenModel[],
  window: JobWindow,
): Family[] {
  const options = { window, readAsked: createAskedReader(database) };
  return models.map((chosen) => readFamily(database, chosen, options));
}

function readFamily(
  database: Database,
  { model, runs }: ChosenModel,
  { window, readAsked }: { window: JobWindow; readAsked: AskedReader },
) {
  const read = runs.map((run) => {
    const days = daysOfRun(database, run, window);
    const asked = readAsked(run, new Set(days.map(({ jobId }) => jobId)));
    const known = days.flatMap((day): AskedDay[] => {
      const own = asked.get(day.jobId);
      return own === undefined ? [] : [Object.assign(day, { asked: own })];
    });
    return { run, days: known };
  });
  const days = [...daysOf({ runs: read })];
  const withCutoff = latestOf(days.filter(({ asked }) => asked.knowledgeCutoff !== null));
  return {
    model,
    /** At least one, each with its days by date. */
    runs: read,
    knowledgeCutoff: withCutoff?.asked.knowledgeCutoff ?? null,
    isAgent: days.some(({ asked }) => asked.isAgent),
    isDeterministic: read.length > 0 && days.every(({ asked }) => asked.isDeterministic),
  };
}

/** The days of all its runs, run by run. */
export function daysOf({
  runs,
}: {
  runs: readonly { days: readonly AskedDay[] }[];
}): IteratorObject<AskedDay> {
  return runs.values().flatMap(({ days }) => days);
}

/** The earliest day; of several on its date, the first. */
export function earliestOf(days: Iterable<AskedDay>): AskedDay | undefined {
  let earliest: AskedDay | undefined;
  for (const day of days) if (earliest === undefined || day.date < earliest.date) earliest = day;
  return earliest;
}

/** The latest day; of several on its date, the last. */
export function latestOf(days: Iterable<AskedDay>): AskedDay | undefined {
  let latest: AskedDay | undefined;
  for (const day of days) if (latest === undefined || day.date >= latest.date) latest = day;
  return latest;
}

/** The same family with only its days after a date. */
export function daysAfter(family: Family, date: CalendarDate | null): Family {
  if (date === null) return family;
  const runs = family.runs.map(({ run, days }) => ({
    run,
    days: days.filter((day) => day.date > date),
  }));
  return { ...family, runs };
}

/** Why a family has no figures regardless of its returns; null when it can have some. */
export function whyUnusable(family: Family): string | null {
  const [stale] = staleness(family.runs);
  if (stale !== undefined) return stale.reason;
  const advice = 'choose a window before or after the change';
  const asked =
    changeOf(family, ({ asked: { terms } }) => [terms]) ??
    changeOf(family, ({ asked: { way } }) => [way]);
  if (asked !== null) {
    const { before, after } = asked;
    const words = `the request for ${after.model} on ${after.date} differs from that for`;
    return `It was asked in two ways: ${words} ${before.model} on ${before.date}; ${advice}`;
  }
  const served = changeOf(family, ({ servedBy }) => servedBy);
  if (served === null) return null;
  const { before, after, first, other } = served;
  const words = `${other} answered ${after.model} on ${after.date}, and ${first} ${before.model} on`;
  return `It was served by two models: ${words} ${before.date}; ${advice}`;
}

/**
 * The first day with a key, and the first with another one; null when there are no two. Days
 * without a key do not count.
 */
function changeOf(family: Family, keysOf: (day: AskedDay) => readonly string[]) {
  const before = earliestOf(daysOf(family).filter((day) => keysOf(day).length > 0));
  const [first] = before === undefined ? [] : keysOf(before);
  const otherIn = (day: AskedDay) => keysOf(day).find((key) => key !== first);
  const after = earliestOf(daysOf(family).filter((day) => otherIn(day) !== undefined));
  if (before === undefined || after === undefined) return null;
  return { before, after, first, other: otherIn(after) };
}
