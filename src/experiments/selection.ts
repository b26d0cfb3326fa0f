import { MIN_DAYS } from '../comparison/participants.ts';
import type { JobWindow } from '../database/session-filters.ts';
import type { Database } from '../database/database.ts';
import { type RunInWindow, runsInWindow } from '../database/records/returns.ts';
import { ServiceError } from '../basics/domain.ts';

/** More would make more pairs than anyone reads. */
export const MAX_MODELS = 50;

/** A model to compare, an entry or one of its runs, with its runs in the window; at least one. */
export interface ChosenModel {
  model: string;
  runs: readonly string[];
}

export interface Selection {
  models: ChosenModel[];
  /** Entries with too few model-days in the window, where no models are named; by name. */
  leftOut: string[];
  /** How many entries have active model-days in the window. */
  trials: number;
}

export interface WantedModels {
  /**
   * Undefined for every entry with enough model-days; where none has enough, for all, so that each
   * has its reason.
   */
  models: readonly string[] | undefined;
  /** Added to those compared. */
  against: string | undefined;
}

/**
 * Throws a `ServiceError` (`invalid_filter`) for a name that no job has used or that is repeated,
 * and for too many models.
 */
export function selectModels(
  database: Database,
  { models, against }: WantedModels,
  window: JobWindow,
): Selection {
  if (models !== undefined && new Set(models).size < models.length)
    throw new ServiceError('invalid_filter', 'models: a name is repeated; name each model once');
  const families = Map.groupBy(runsInWindow(database, window), ({ family }) => family);
  const present = [...families]
    .filter(([, runs]) => modelDaysOf(runs) > 0)
    .map(([family]) => family);
  const longEnough = present.filter(
    (family) => modelDaysOf(families.get(family) ?? []) >= MIN_DAYS,
  );
  const names = new Set(models ?? (longEnough.length > 0 ? longEnough : present));
  if (against !== undefined) names.add(against);
  if (names.size > MAX_MODELS) throw tooMany(names.size);
  return {
    models: [...names].map((name) => ({
      model: name,
      runs: runsOf(name, families, name === against ? 'against' : 'models'),
    })),
    leftOut: models === undefined ? present.filter((family) => !names.has(family)).sort() : [],
    trials: present.length,
  };
}

function modelDaysOf(runs: readonly RunInWindow[]): number {
  return runs.reduce((sum, { modelDays }) => sum + modelDays, 0);
}

/**
 * The runs of an entry that have model-days in the window; where none has, the first. A run's own
 * name means that run.
 */
function runsOf(
  name: string,
  families: ReadonlyMap<string, readonly RunInWindow[]>,
  parameter: keyof WantedModels,
): string[] {
  const family = families.get(name);
  if (family !== undefined) {
    const present = family.filter(({ modelDays }) => modelDays > 0);
    return (present.length > 0 ? present : family.slice(0, 1)).map(({ run }) => run);
  }
  if (families.values().some((runs) => runs.some(({ run }) => run === name))) return [name];
  throw unknownModel(parameter, name);
}

/** The refusal of a name, in a parameter of a query, that no job has used. */
export function unknownModel(parameter: string, name: string): ServiceError {
  return new ServiceError(
    'invalid_filter',
    `${parameter}: no job has run ${name}; GET /models lists the models`,
  );
}

function tooMany(models: number): ServiceError {
  return new ServiceError(
    'invalid_filter',
    `models: expected at most ${MAX_MODELS} models, not ${models}; name those to compare`,
  );
}
