import { unknownModel } from '#api/filters.ts';
import { MIN_DAYS } from '../comparison/looks.ts';
import type { RunInWindow } from '../performance/queries.ts';
import { invalidFilter } from '#domain/service-error.ts';
import { MAX_COMPARED } from '#domain/runs.ts';
import { median } from '../statistics/moments.ts';

/** A model to compare, an entry or one of its runs, with its runs in the window; at least one. */
export interface ChosenModel {
  model: string;
  runs: readonly string[];
  /** Where it is asked for; null for the one without a name. */
  study?: string | null | undefined;
}

export interface WantedModels {
  /**
   * Undefined for every entry with enough model-days; where none has enough, for all, so that each
   * has its reason.
   */
  models: readonly string[] | undefined;
  /** Added to those compared. */
  against?: string | undefined;
  /** How many there may be, by default MAX_COMPARED. */
  most?: number;
  /** With `run` each run is a model of its own. */
  by?: 'entry' | 'run';
  /** The study of entries that are not named, '' for the one without a name; undefined for all. */
  study?: string | undefined;
}

/**
 * Throws a `ServiceError` (`invalid_filter`) for a name that no job has used or that is repeated,
 * and for too many models.
 */
export function selectModels(
  runs: readonly RunInWindow[],
  { models, against, most = MAX_COMPARED, by = 'entry', study }: WantedModels,
) {
  if (models !== undefined && new Set(models).size < models.length)
    throw invalidFilter('models', 'a name is repeated; name each model once');
  const families = Map.groupBy(runs, ({ model, family }) => (by === 'run' ? model : family));
  const all = [...families].filter(([, own]) => sumModelDays(own) > 0);
  const studyOf = (own: readonly RunInWindow[]) => own[0]?.study ?? '';
  const present = all
    .filter(([, own]) => study === undefined || studyOf(own) === study)
    .map(([family]) => family);
  const names = new Set(models ?? chooseLongEnough(present, families));
  if (against !== undefined) names.add(against);
  if (names.size > most)
    throw invalidFilter(
      'models',
      `expected at most ${MAX_COMPARED} models, not ${names.size}; name those to compare`,
    );
  const chosen = (name: string): ChosenModel => ({
    model: name,
    runs: chooseRuns(name, families, name === against ? 'against' : 'models'),
    study: runs.find((run) => run.model === name || run.family === name)?.study,
  });
  const compared = [...names].map(chosen);
  const studies = new Set(compared.map((own) => own.study ?? ''));
  const trials = all.filter(([, own]) => studies.size === 0 || studies.has(studyOf(own))).length;
  const others = models === undefined ? present.filter((family) => !names.has(family)) : [];
  return {
    models: compared,
    /** Entries with too few model-days in the window, where no models are named; by name. */
    leftOut: others.sort().map(chosen),
    /** How many entries of the studies compared have active model-days in the window. */
    trials,
    trialsElsewhere: all.length - trials,
    /** The one that all models are of; null for the one without a name, and for several. */
    study: studies.size === 1 ? [...studies].join() || null : null,
  };
}

type Families = ReadonlyMap<string, readonly RunInWindow[]>;

function sumModelDays(runs: readonly RunInWindow[]): number {
  return runs.reduce((sum, { modelDays }) => sum + modelDays, 0);
}

/**
 * The entries whose runs have, in the mean, model-days enough for figures, and half the median of
 * these: one that has just begun would cost the others too many days. All where none has enough.
 */
function chooseLongEnough(present: readonly string[], families: Families): readonly string[] {
  const perRun = (name: string) => {
    const active = (families.get(name) ?? []).filter(({ modelDays }) => modelDays > 0);
    return sumModelDays(active) / active.length;
  };
  const enough = present.filter((name) => perRun(name) >= MIN_DAYS);
  const least = median(enough.map(perRun)) / 2;
  return enough.length === 0 ? present : enough.filter((name) => perRun(name) >= least);
}

/**
 * The runs of an entry that have model-days in the window; where none has, the first. A run's own
 * name means that run.
 */
function chooseRuns(name: string, families: Families, parameter: keyof WantedModels): string[] {
  const family = families.get(name);
  if (family !== undefined) {
    const present = family.filter(({ modelDays }) => modelDays > 0);
    return (present.length > 0 ? present : family.slice(0, 1)).map(({ model }) => model);
  }
  if (families.values().some((runs) => runs.some(({ model }) => model === name))) return [name];
  throw unknownModel(parameter, name);
}
