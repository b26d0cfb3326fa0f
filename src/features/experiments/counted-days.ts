import type { CalendarDate } from '#time/calendar.ts';
import { count } from '#text/sentences.ts';
import {
  commonDays,
  type ModelReturns,
  type DayKey,
  findParticipants,
  leftOutDays,
  readRecords,
  noFiguresReason,
} from '../comparison/participants.ts';
import { MIN_DAYS } from '../comparison/looks.ts';
import type { Database } from '#database/database.ts';
import {
  type ActiveDay,
  activeDays,
  failedModelDays,
  type RunInWindow,
  runsInWindow,
} from '../performance/queries.ts';
import type { JobWindow } from '#database/session-filters.ts';
import type { CountedRun } from '../performance/record.ts';
import { at } from '../statistics/moments.ts';
import {
  daysAfter,
  familyDays,
  type Family,
  latestDay,
  readFamilies,
  unusableReason,
} from './family.ts';
import { dateUpTo, type Numberings, numberUpTo } from './numbering.ts';
import { type ChosenModel, selectModels } from './selection.ts';

/** Which model-days count: of which runs, clean ones, common ones. */

/** Model-days that a request selects. */
interface DaysQuery {
  window: JobWindow;
  /** Entries or runs; undefined for all. */
  names?: readonly string[] | undefined;
  /** Whether a name means only the run of that name. */
  areRuns?: boolean;
  /** With `entry` the runs of an entry count on the days that they all started from the same close. */
  by: 'run' | 'entry';
  /** `clean`: only those after the latest knowledge cutoff that counts, and after each model's own. */
  days: 'all' | 'clean';
  /** Whether only those count that a comparison of these models compares. */
  common: boolean;
}

/** A run with those of its model-days in a window that count. */
interface RunOfWindow extends CountedRun, RunInWindow {
  /** All of them. */
  completed: readonly ActiveDay[];
  /** Only later days can count; '' for all. */
  after: CalendarDate | '';
}

/** A model that is left out, and why. */
interface LeftOutModel {
  model: string;
  reason: string;
}

/** The runs per left-out day; a response must not grow with the product of days and models. */
const MAX_NAMED_RUNS = 5;

/**
 * The model-days that count for a request, and what it says of the others: `GET /performance` and
 * `GET /holdings`. Reads the days of each run once. Throws a `ServiceError` as `selectModels` does.
 */
export function countedDays(database: Database, query: DaysQuery) {
  const { window, by, common: isCommon } = query;
  const isClean = query.days === 'clean';
  const all = runsInWindow(database, window);
  const { compared, others, named } = chooseModels(all, query);
  const counted = new Map<string, Pick<RunOfWindow, 'days' | 'completed'>>();
  const cutoffs = new Map<string, CalendarDate | null>();
  const result = (told: Omit<ReturnType<typeof narrowDays>, 'clean' | 'dates'>) => ({
    /** All, by name; only those that the request means have days. */
    runs: all.map((run): RunOfWindow => {
      const { days, completed } = counted.get(run.model) ?? { days: [], completed: [] };
      const cutoff = cutoffs.get(run.model) ?? run.knowledgeCutoff ?? '';
      const latest = told.cleanAfter ?? '';
      const after = !isClean ? '' : cutoff > latest ? cutoff : latest;
      return { ...run, days, completed, after };
    }),
    /** The runs of the named models; undefined without names. */
    named,
    ...told,
  });
  if (by === 'run' && !isClean && !isCommon) {
    const runs = compared.map(({ model }) => model);
    const found = activeDays(database, runs, window);
    for (const run of runs) {
      const days = found.get(run) ?? [];
      counted.set(run, { days, completed: days });
    }
    return result({ cleanAfter: null, withoutCleanDays: [], common: null });
  }
  const families = readFamilies(database, [...compared, ...others], window);
  const { clean, dates, ...told } = narrowDays(families, compared.length, {
    by,
    isClean,
    isCommon,
  });
  for (const family of families) {
    const own = new Map(clean(family).runs.map(({ run, days }) => [run, days]));
    const counts = dates?.get(family.model);
    for (const { run, days: completed } of family.runs) {
      // A run that is named beside its entry has the days that count for both.
      const before = counted.get(run)?.days ?? own.get(run) ?? [];
      const days = before.filter(({ date }) => dates === null || counts?.has(date));
      counted.set(run, { days, completed });
      cutoffs.set(run, family.knowledgeCutoff);
    }
  }
  return result(told);
}

/** Which models a request means: those that determine what is common, and the others. */
function chooseModels(all: readonly RunInWindow[], { names, areRuns, by, common }: DaysQuery) {
  const single = (run: string): ChosenModel => ({ model: run, runs: [run] });
  if (names === undefined) {
    const { models, leftOut } = selectModels(all, { models: names, by, most: Infinity });
    // Only what is common depends on which models have days enough.
    return common
      ? { compared: models, others: leftOut, named: undefined }
      : { compared: [...models, ...leftOut], others: [], named: undefined };
  }
  const models = areRuns ? names.map(single) : selectModels(all, { models: names }).models;
  const named = [...new Set(models.flatMap(({ runs }) => runs))].sort();
  return { compared: by === 'run' ? named.map(single) : models, others: [], named };
}

/** Of the families the first ones are compared. */
function narrowDays(
  families: readonly Family[],
  first: number,
  { by, isClean, isCommon }: { by: 'run' | 'entry'; isClean: boolean; isCommon: boolean },
) {
  const compared = families.slice(0, first);
  const { cleanAfter, clean } = createCleanFilter(compared, { isClean, areCompared: isCommon });
  const withoutCleanDays = isClean ? findUncleanModels(families, { clean, cleanAfter }) : [];
  const narrowed = { clean, cleanAfter, withoutCleanDays };
  if (by === 'run' && !isCommon) return { ...narrowed, dates: null, common: null };
  const toCleanReturns = (some: readonly Family[]) =>
    some.map((family) => toModelReturns(clean(family)));
  const { reasons, own, leftOut, ...shared } = sharedDays(
    toCleanReturns(compared),
    toCleanReturns(families.slice(first)),
  );
  const days = shared.days.map(String);
  const unclean = new Set(withoutCleanDays.map(({ model }) => model));
  const counts = ({ model }: Family) =>
    new Set(isCommon ? (reasons.has(model) ? [] : days) : own.get(model)?.map(String));
  return {
    ...narrowed,
    /** By model, the only dates that count; null for all. */
    dates: new Map(families.map((family) => [family.model, counts(family)])),
    /** What the models have in common, named as in the response; null unless only that counts. */
    common: isCommon
      ? {
          start_date: days[0] ?? null,
          end_date: days.at(-1) ?? null,
          days: days.length,
          left_out: [...reasons]
            .filter(([model]) => !unclean.has(model))
            .map(([model, reason]) => ({ model, reason })),
          left_out_days: leftOut.map(({ day, runs }) => ({
            date: String(day),
            missing: runs.length,
            models: runs.slice(0, MAX_NAMED_RUNS),
          })),
        }
      : null,
  };
}

/** The models that have days, but none after the knowledge cutoff. */
function findUncleanModels(
  families: readonly Family[],
  { clean, cleanAfter }: { clean: (family: Family) => Family; cleanAfter: CalendarDate | null },
): LeftOutModel[] {
  return families.flatMap((family) => {
    const { model, knowledgeCutoff: own } = family;
    const last = latestDay(familyDays(family))?.date;
    if (last === undefined || !familyDays(clean(family)).next().done) return [];
    const [whose, cutoff] =
      (own ?? '') > (cleanAfter ?? '') ? ['its', own] : ['the latest', cleanAfter];
    const reason = `Its last model-day, ${last}, is not after ${whose} knowledge cutoff, ${cutoff}`;
    return [{ model, reason }];
  });
}

/**
 * By run, how many model-days that could count have failed, and were not completed. A response
 * without them would hide the models that have no other.
 */
export function countFailedDays(
  database: Database,
  window: JobWindow,
  { runs }: Pick<ReturnType<typeof countedDays>, 'runs'>,
): Map<string, number> {
  const failed = failedModelDays(database, window);
  return new Map(
    runs.flatMap(({ model, completed, after }) => {
      const own = failed.get(model);
      if (own === undefined) return [];
      for (const { date } of completed) own.delete(date);
      return [[model, [...own].filter((date) => date > after).length]];
    }),
  );
}

/** The runs, all or only the named ones, of which some model-day failed and none was completed. */
export function withoutCompletedDays(
  failed: ReadonlyMap<string, number>,
  { runs, named }: Pick<ReturnType<typeof countedDays>, 'runs' | 'named'>,
): LeftOutModel[] {
  const done = new Set(runs.flatMap((run) => (run.completed.length > 0 ? run.model : [])));
  return [...failed]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .filter(([run, days]) => days > 0 && named?.includes(run) !== false && !done.has(run))
    .map(([model, days]) => ({
      model,
      reason: `${count(days, 'model-day')} failed, and none was completed`,
    }));
}

/**
 * The latest knowledge cutoff that counts, and what keeps the clean days of a family; of all days it
 * keeps all. A cutoff counts if its model has enough later days: `MIN_DAYS`, or half as many as the
 * model with the most, if that is fewer. Otherwise one model with few clean days would cost all
 * others theirs. Where they are compared, only those that have figures over their own clean days
 * take part, if there are any.
 *
 * By number, the dates of a model without a cutoff say nothing, as in a control market: its clean
 * days are those that meet clean ones.
 */
export function createCleanFilter(
  families: readonly Family[],
  {
    isClean,
    areCompared,
    numberings = null,
  }: { isClean: boolean; areCompared: boolean; numberings?: Numberings | null },
) {
  if (!isClean) return { cleanAfter: null, clean: (family: Family) => family };
  const after = latestCutoff(families, areCompared);
  const latest =
    after === null ? [] : families.filter(({ knowledgeCutoff }) => knowledgeCutoff === after);
  const numbers = latest.map(({ model }) => numberUpTo(numberings?.get(model), after ?? ''));
  const last = Math.max(0, ...numbers);
  const clean = (family: Family): Family => {
    const { model, knowledgeCutoff } = family;
    if (numberings !== null && knowledgeCutoff === null)
      return daysAfter(family, dateUpTo(numberings.get(model), last));
    return daysAfter(daysAfter(family, after), knowledgeCutoff);
  };
  return { cleanAfter: after, clean };
}

function latestCutoff(families: readonly Family[], areCompared: boolean): CalendarDate | null {
  const own = families.map((family) => daysAfter(family, family.knowledgeCutoff));
  const able = areCompared
    ? own.filter((family) => noFiguresReason(toModelReturns(family)) === null)
    : [];
  const records = (able.length > 0 ? able : own).map(({ knowledgeCutoff, runs }) => {
    const [first = new Set<string>(), ...others] = runs.map(
      ({ days }) => new Set(days.map(({ date }) => date)),
    );
    const shared = others.reduce((dates, one) => dates.intersection(one), first);
    return { cutoff: knowledgeCutoff, days: shared.size };
  });
  const most = records.reduce((highest, { days }) => Math.max(highest, days), 0);
  const enough = Math.max(1, Math.min(MIN_DAYS, most / 2));
  const counting = records.flatMap(({ cutoff, days }) => (days >= enough ? (cutoff ?? []) : []));
  return counting.sort().at(-1) ?? null;
}

/** A family as it is compared: by date, or by the number of one. */
export function toModelReturns(
  family: Family,
  dayOf: (date: CalendarDate) => DayKey = (date) => date,
): ModelReturns {
  return {
    model: family.model,
    isDeterministic: family.isDeterministic,
    unusable: unusableReason(family),
    runs: family.runs.map(({ run, days }) => ({
      run,
      returns: days.flatMap(({ date, dailyReturn, startDate }) =>
        dailyReturn === null
          ? []
          : [[dayOf(date), dailyReturn, startDate === null ? null : dayOf(startDate)] as const],
      ),
    })),
  };
}

/**
 * The days over which `compareModels` would compare the first models, and of all models their own
 * days, or which of those compared they lack.
 */
export function sharedDays(compared: readonly ModelReturns[], others: readonly ModelReturns[]) {
  const { calendar, records } = readRecords([...compared, ...others]);
  const names = new Set(compared.map(({ model }) => model));
  const [own = [], further = []] = [true, false].map((isCompared) =>
    records.filter(({ model }) => names.has(model) === isCompared),
  );
  const participants = findParticipants(own);
  const [first] = participants.records;
  const nameAll = (days: readonly number[]) => days.map((day) => at(calendar, day));
  const reasons = new Map<string, string>();
  for (const { model, starts } of [...own, ...further]) {
    const missing = participants.days.filter((day) => starts[day] !== first?.starts[day]).length;
    if (missing === 0) continue;
    const all = participants.days.length;
    const which = `${missing === all ? 'all' : `${missing} of the`} ${count(all, 'day')}`;
    const lacking = `It missed ${which} compared, or a day before one of them`;
    reasons.set(model, participants.reasons.get(model) ?? lacking);
  }
  return {
    /** The days compared, in order. */
    days: nameAll(participants.days),
    leftOut: leftOutDays(participants.records, calendar),
    /** By model, the days that its runs share, in order. */
    own: new Map(records.map((record) => [record.model, nameAll(commonDays([record]))])),
    /**
     * Why a model has no return that starts from the same close on all the days compared, by model.
     */
    reasons,
  };
}
