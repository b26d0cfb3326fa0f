import type { CalendarDate } from '../basics/calendar.ts';
import { count } from '../basics/sentences.ts';
import {
  commonDays,
  type ComparedModel,
  findParticipants,
  leftOutDays,
  readRecords,
} from '../comparison/participants.ts';
import type { Choice, LeftOutModel } from '../performance/choice.ts';
import { cleaner, comparedModel } from './experiment.ts';
import { type Family, readFamilies } from './family.ts';
import { at } from '../statistics/moments.ts';
import { selectModels } from './selection.ts';

/**
 * The days over which `compareModels` would compare the first models, and of all models their own
 * days, or which of those compared they lack.
 */
export function sharedDays(compared: readonly ComparedModel[], others: readonly ComparedModel[]) {
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
    const all = count(participants.days.length, 'day');
    const lacking = `On ${missing} of the ${all} compared it has no return that starts from the same close`;
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

/** The names per left-out day; a response must not grow with the product of days and models. */
const MAX_NAMED = 5;

/** Which days of some models count together. */
interface Sharing {
  /** The models, by default all: entries with all their runs, or single runs. */
  models: readonly string[] | undefined;
  by: 'entry' | 'run';
  /** Only those after the latest knowledge cutoff, and after each model's own. */
  isClean: boolean;
  /** Only those that a comparison of these models compares, so that both show the same returns. */
  isCommon: boolean;
}

/**
 * The choice of the days that models share, by the rule of a comparison: the runs of an entry count
 * on the days that they all started from the same close; with `isCommon`, all models do. Throws as
 * `selectModels` does.
 */
export function narrowToShared(wanted: Choice, { models, by, isClean, isCommon }: Sharing) {
  const { database, filters } = wanted;
  const selection = selectModels(database, { models, by, most: Infinity }, filters);
  const [compared = [], others = []] = [selection.models, selection.leftOut].map((chosen) =>
    readFamilies(database, chosen, filters),
  );
  const { cleanAfter, clean } = cleaner(compared, isClean);
  const inBrief = (families: readonly Family[]) =>
    families.map((family) => comparedModel(clean(family)));
  const { reasons, own, leftOut, ...shared } = sharedDays(inBrief(compared), inBrief(others));
  const days = shared.days.map(String);
  const all = [...compared, ...others];
  const dates = new Map<string, ReadonlySet<CalendarDate>>();
  for (const { model, runs } of all) {
    if (isCommon && reasons.has(model)) continue;
    const counted = new Set(isCommon ? days : own.get(model)?.map(String));
    for (const { run } of runs) dates.set(run, counted);
  }
  const withoutCleanDays = isClean ? withoutDays(all, clean) : [];
  const unclean = new Set(withoutCleanDays.map(({ model }) => model));
  return {
    choice: { ...wanted, models: [...dates.keys()].sort(), dates },
    /** Only later days count; null when no cutoff restricts them. */
    cleanAfter,
    withoutCleanDays,
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
            models: runs.slice(0, MAX_NAMED),
          })),
        }
      : null,
  };
}

/** The models that have days, but none after the knowledge cutoff. */
function withoutDays(
  families: readonly Family[],
  clean: (family: Family) => Family,
): LeftOutModel[] {
  const hasDays = ({ runs }: Family) => runs.some(({ days }) => days.length > 0);
  return families
    .filter((family) => hasDays(family) && !hasDays(clean(family)))
    .map(({ model }) => ({
      model,
      reason: 'None of its model-days is after the knowledge cutoff',
    }));
}
