import { familyName, MAX_RUNS, runName, runNames, parseRun, splitStudy } from '#domain/runs.ts';
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
 * run that its entry does not have, or one of another study: a ledger belongs to one.
 */
export function expandModels(
  requested: readonly string[],
  { models, studies }: Pick<Configuration, 'models' | 'studies'>,
  study: string | null = null,
  /** In which study each name ran. */
  known: ReadonlyMap<string, string | null> = new Map(),
): ModelRun[] {
  const enabled = models.filter((entry) => entry.enabled).map(({ signature }) => signature);
  const names = requested.length > 0 ? requested : enabled;
  if (names.length === 0)
    throw new ServiceError(
      'no_models',
      'No models to simulate: the configuration enables no model, and the request names none',
    );
  const entries = new Map(models.map((entry) => [entry.signature, entry]));
  const runs = new Map<string, ModelRun>();
  for (const name of names) {
    const isWhole = study === null && known.get(name) === null;
    const own = isWhole ? name : ownName(name, { entries, studies, study });
    for (const [signature, run] of resolveRuns(own, entries)) {
      const family = familyName(signature, study);
      const model = runName(family, run);
      if (!isSignatureLength(model))
        refuseModels(`'${model}': the name with the study is too long`);
      const other = known.get(model);
      if (other !== undefined && other !== study) {
        const place = other === null ? 'without a study' : `in the study '${other}'`;
        const problem = `a model of that name ran ${place}; rename its entry or the study`;
        refuseModels(`'${model}': ${problem}`);
      }
      runs.set(model, { model, family, signature, run });
    }
  }
  if (runs.size <= MAX_RUNS) return [...runs.values()];
  const much = `${count(runs.size, 'run')} with all repeats`;
  throw new ServiceError(
    'invalid_models',
    `Cannot create a job of ${much}: the maximum is ${MAX_RUNS}; name fewer models, or lower their repeats`,
  );
}

function refuseModels(problem: string): never {
  throw new ServiceError('invalid_models', `Cannot run ${problem}`);
}

/** A name without its study. Whole, the name of an entry comes first: it may contain `@`. */
function ownName(
  name: string,
  { entries, studies, study }: { entries: Entries; studies: object; study: string | null },
): string {
  const { family, run } = parseRun(name);
  const split = splitStudy(family);
  if (split === null || entries.has(name) || entries.has(family)) return name;
  if (split.study === (study ?? '')) return runName(split.signature, run);
  if (split.study !== '' && !Object.hasOwn(studies, split.study)) return name;
  const advice = split.study === '' ? 'leave study out' : `set study to ${split.study}`;
  return refuseModels(`'${name}': it belongs to another study; ${advice}`);
}

/** Signatures, each with the number of a run. */
function resolveRuns(name: string, entries: Entries): [signature: string, run: number][] {
  const entry = entries.get(name);
  if (entry !== undefined)
    return Array.from({ length: entry.repeats }, (_, index) => [name, index + 1]);
  const { family, run } = parseRun(name);
  const owner = entries.get(family);
  if (owner === undefined) return [[name, 1]];
  if (run > 1 && run <= owner.repeats) return [[family, run]];
  const names = runNames(owner).map((one) => `'${one}'`);
  return refuseModels(`'${name}': '${family}' has ${count(names.length, 'run')}: ${list(names)}`);
}
