import type { Database } from '#database/database.ts';
import { knownRuns } from '#database/records/model-records.ts';
import { familyName, MAX_RUNS, parseRun, runName, runNames, splitStudy } from '#domain/runs.ts';
import { ServiceError } from '#domain/service-error.ts';
import {
  type Configuration,
  isSignatureLength,
  type ModelConfiguration,
} from '#settings/configuration-schema.ts';
import { count, list } from '#text/sentences.ts';

/** The runs that a job is to have. */

export interface ModelRun {
  /** Its name in every table. */
  model: string;
  /** The name of its entry in the study. */
  family: string;
  /** The signature of its entry; its own name when the configuration does not list it. */
  signature: string;
  /** Which of the entry's runs it is, from 1. */
  run: number;
}

type Entries = ReadonlyMap<string, ModelConfiguration>;

/**
 * The runs that a trigger means: all of an entry for its signature, one for a name such as
 * `gpt-5#2`; without names, those of the enabled entries. In a study a name may be that of its
 * ledger too. Duplicates are dropped, order is kept. Throws a `ServiceError` for none, too many, a
 * run that its entry does not have, or one of another study.
 */
export function expandModels(
  requested: readonly string[],
  { models, studies }: Pick<Configuration, 'models' | 'studies'>,
  study: string | null = null,
  /** Names that have run without a study, which are whole. */
  whole: ReadonlySet<string> = new Set(),
): ModelRun[] {
  const enabled = models.filter((entry) => entry.enabled).map(({ signature }) => signature);
  const names = requested.length > 0 ? requested : enabled;
  if (names.length === 0)
    throw new ServiceError(
      'no_models',
      'No models to simulate: the server configuration enables none, and the request names none',
    );
  const entries = new Map(models.map((entry) => [entry.signature, entry]));
  const runs = new Map<string, ModelRun>();
  for (const name of names)
    for (const [signature, run] of resolveRuns(
      whole.has(name) ? name : nameInStudy(name, { entries, studies, study }),
      entries,
    )) {
      const family = familyName(signature, study);
      runs.set(runName(family, run), { model: runName(family, run), family, signature, run });
    }
  const long = runs.keys().find((name) => !isSignatureLength(name));
  if (long !== undefined) refuseModels(`'${long}': its name with the study is too long`);
  if (runs.size <= MAX_RUNS) return [...runs.values()];
  const much = `${count(runs.size, 'run')} with all repeats`;
  throw new ServiceError(
    'invalid_models',
    `Cannot create a job of ${much}: at most ${MAX_RUNS} are possible; name fewer models, or lower their repeats`,
  );
}

function refuseModels(problem: string): never {
  throw new ServiceError('invalid_models', `Cannot run ${problem}`);
}

/** A name without its study. Whole, the name of an entry comes first: it may contain `@`. */
function nameInStudy(
  name: string,
  { entries, studies, study }: { entries: Entries; studies: object; study: string | null },
): string {
  const { family, run } = parseRun(name) ?? { family: name, run: 1 };
  const split = splitStudy(family);
  if (split === null || entries.has(name) || entries.has(family)) return name;
  if (split.study === (study ?? '')) return runName(split.signature, run);
  if (split.study !== '' && !Object.hasOwn(studies, split.study)) return name;
  const advice = split.study === '' ? 'send no study' : `send study ${split.study}`;
  return refuseModels(`'${name}' here: it is of another study; ${advice}`);
}

/** Signatures, each with the number of a run. */
function resolveRuns(name: string, entries: Entries): [signature: string, run: number][] {
  const entry = entries.get(name);
  if (entry !== undefined)
    return Array.from({ length: entry.repeats }, (_, index) => [name, index + 1]);
  const { family = '', run = 0 } = parseRun(name) ?? {};
  const owner = entries.get(family);
  if (owner === undefined) return [[name, 1]];
  if (run > 1 && run <= owner.repeats) return [[family, run]];
  const names = runNames(owner).map((one) => `'${one}'`);
  return refuseModels(`'${name}': the runs of '${family}' are ${list(names)}`);
}

/**
 * A ledger belongs to one study. Throws a `ServiceError` where a job has run one of these names in
 * another: as the name of an entry that contains the study's.
 */
export function assertOneStudy(
  database: Database,
  runs: readonly ModelRun[],
  study: string | null,
): void {
  const names = new Set(runs.flatMap(({ model }) => (model.includes('@') ? model : [])));
  if (names.size === 0) return;
  const other = knownRuns(database).find((run) => names.has(run.model) && run.study !== study);
  if (other === undefined) return;
  const place = other.study === null ? 'without a study' : `in the study '${other.study}'`;
  refuseModels(
    `'${other.model}': a model of that name ran ${place}; rename its entry or the study`,
  );
}
