import type { CalendarDate } from '../basics/calendar.ts';
import { sharedDays } from '../comparison/participants.ts';
import {
  type Choice,
  leftOutDay,
  type LeftOutModel,
  type NarrowedChoice,
  type Restrictions,
  spanOf,
} from '../performance/choice.ts';
import { cleaner, comparedModel, latestCutoff, readFamilies } from './experiment.ts';
import type { Family } from './family.ts';
import { selectModels } from './selection.ts';

/**
 * The choice of the runs of whole entries. The runs of an entry count on the days that they all
 * started from the same close; with `isCommon` on the days that a comparison of these entries
 * compares, so that both show one return per entry. Throws as `selectModels` does.
 */
export function narrowToEntries(
  wanted: Choice,
  models: readonly string[] | undefined,
  { isClean, isCommon }: Restrictions,
): NarrowedChoice {
  const { database, filters } = wanted;
  const selection = selectModels(database, { models, most: Infinity }, filters);
  const [compared, others] = [selection.models, selection.leftOut].map((chosen) =>
    readFamilies(database, chosen, filters),
  ) as [Family[], Family[]];
  const cleanAfter = isClean ? latestCutoff(compared) : null;
  const clean = isClean ? cleaner(compared, cleanAfter, null) : (family: Family) => family;
  const inBrief = (families: readonly Family[]) =>
    families.map((family) => comparedModel<CalendarDate>(clean(family), (date) => date));
  const shared = sharedDays(inBrief(compared), inBrief(others));
  const entries = [...compared, ...others];
  const { reasons, days } = shared;
  const ranked = isCommon ? entries.filter(({ model }) => !reasons.has(model)) : entries;
  const datesOf = ({ model }: Family) => (isCommon ? days : (shared.own.get(model) ?? []));
  const dates = new Map(
    ranked.flatMap((entry) => {
      const own = new Set(datesOf(entry));
      return entry.runs.map(({ run }) => [run, own] as const);
    }),
  );
  const unclean = isClean ? withoutDays(entries, clean) : [];
  const isUnclean = new Set(unclean.map(({ model }) => model));
  const leftOut = [...reasons]
    .filter(([model]) => !isUnclean.has(model))
    .map(([model, reason]) => ({ model, reason }));
  return {
    choice: { ...wanted, models: [...dates.keys()].sort(), dates },
    cleanAfter,
    withoutCleanDays: unclean,
    common: isCommon
      ? {
          ...spanOf(days),
          leftOut,
          leftOutDays: shared.leftOut.map(({ day, runs }) => leftOutDay(day, runs)),
        }
      : null,
  };
}

/** The entries that have days, but none after the knowledge cutoff. */
function withoutDays(
  entries: readonly Family[],
  clean: (family: Family) => Family,
): LeftOutModel[] {
  const hasDays = ({ runs }: Family) => runs.some(({ days }) => days.length > 0);
  return entries
    .filter((entry) => hasDays(entry) && !hasDays(clean(entry)))
    .map(({ model }) => ({
      model,
      reason: 'None of its model-days is after the knowledge cutoff',
    }));
}
