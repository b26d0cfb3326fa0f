import type { Configuration, ModelConfiguration } from '../configuration-schema.ts';
import { ServiceError } from '../domain.ts';
import { MAX_RUNS, repeatIn, runNames } from '../repeats.ts';
import { count, list } from '../sentences.ts';

/** One run of a job, before it has a start date. */
export interface ModelRun {
  /** Its name in every table. */
  model: string;
  /** The signature of its entry; its own name when the configuration does not list it. */
  family: string;
  /** Which of the entry's runs it is, from 1. */
  run: number;
}

/**
 * The runs that a trigger means: all of an entry for its signature, one for a name such as
 * `gpt-5#2`; without names, those of the enabled entries. Duplicates are dropped, order is kept.
 * Throws a `ServiceError` for none, too many, or a run that its entry does not have.
 */
export function expandModels(requested: readonly string[], { models }: Configuration): ModelRun[] {
  const entries = new Map(models.map((entry) => [entry.signature, entry]));
  const enabled = models.filter((entry) => entry.enabled).map(({ signature }) => signature);
  const names = requested.length > 0 ? requested : enabled;
  if (names.length === 0) {
    throw new ServiceError(
      'no_models',
      'No models to simulate: the server configuration enables none, and the request names none',
    );
  }
  const runs = new Map<string, ModelRun>();
  for (const name of names) for (const run of runsOf(name, entries)) runs.set(run.model, run);
  if (runs.size <= MAX_RUNS) return [...runs.values()];
  const much = `${count(runs.size, 'run')} with all repeats`;
  throw new ServiceError(
    'invalid_models',
    `Cannot create a job of ${much}: at most ${MAX_RUNS} are possible; name fewer models, or lower their repeats`,
  );
}

function runsOf(name: string, entries: ReadonlyMap<string, ModelConfiguration>): ModelRun[] {
  const entry = entries.get(name);
  if (entry !== undefined)
    return runNames(entry).map((model, index) => ({ model, family: name, run: index + 1 }));
  const { family = '', run = 0 } = repeatIn(name) ?? {};
  const owner = entries.get(family);
  if (owner === undefined) return [{ model: name, family: name, run: 1 }];
  if (run > 1 && run <= owner.repeats) return [{ model: name, family, run }];
  const names = runNames(owner).map((one) => `'${one}'`);
  throw new ServiceError(
    'invalid_models',
    `Cannot run '${name}': the runs of '${family}' are ${list(names)}`,
  );
}

/** What is known of a run's model-days; null without any. */
interface Facts {
  simulatedThrough(model: string): string | null;
  simulatedFrom(model: string): string | null;
}

/**
 * Sentences about runs that have no completed day while others of their family have: in resume mode
 * they would run the last date only, so each sentence names the start date that fills them in.
 */
export function warnOfNewRuns(
  runs: readonly ModelRun[],
  endDate: string,
  { simulatedThrough, simulatedFrom }: Facts,
): string[] {
  return [...Map.groupBy(runs, ({ family }) => family)].flatMap(([family, own]) => {
    const fresh = own.map(({ model }) => model).filter((model) => simulatedThrough(model) === null);
    const starts = [family, ...own.map(({ model }) => model)]
      .map(simulatedFrom)
      .filter((date) => date !== null);
    const [first] = starts.sort();
    if (fresh.length === 0 || first === undefined) return [];
    const have = fresh.length === 1 ? 'has' : 'have';
    const run = fresh.length === 1 ? 'runs' : 'run';
    return [
      `${list(fresh)} ${have} no completed day and ${run} ${endDate} only; start_date ${first} fills in the rest`,
    ];
  });
}
