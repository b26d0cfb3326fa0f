import { dirname, resolve } from 'node:path';
import * as v from 'valibot';
import {
  type AgentConfiguration,
  findBaseline,
  BASELINE_PREFIX,
  baselines,
  findBasemodel,
  type Configuration,
  configurationSchema,
  isPlaceholder,
  isSignatureLength,
  mergeTerms,
  resolveTerms,
  type ModelConfiguration,
  storedConfigSchema,
} from './configuration-schema.ts';
import { errorCode, errorMessage, ServiceError } from '#domain/service-error.ts';
import { asArray, asObject, errorPosition } from '#json/json.ts';
import type { Log } from '#process/log.ts';
import { dialectProblems } from './makers.ts';
import { marketOfFamily } from './market-term.ts';
import { readMembers } from './members.ts';
import { familyName, isDeterministic, parseRun, runName, splitStudy } from '#domain/runs.ts';
import { decodeText, readNamedFile, readPromptFile, readTrustedFile } from './trusted-file.ts';
import { hint, list } from '#text/sentences.ts';
import { checkUnknownKeys, itemKey } from './unknown-keys.ts';

const MAX_CONFIGURATION_BYTES = 4 * 1024 * 1024;

/**
 * The file is read for every request, but thousands of models take ten milliseconds to check. It is
 * compared as bytes: to decode them takes three times as long as to read them.
 */
let cached: { bytes: Buffer; openaiApiBase: string | null; written: Configuration } | null = null;

/**
 * Reads the server's configuration file, and checks it unless it still is as it was read last.
 * Throws a `ServiceError` (`broken_configuration`) that names the file and the path of each wrong
 * value in it. `openaiApiBase` is where entries without a URL are asked, if not at their makers.
 * Callers share the result, which is frozen and has no text of a `prompt_file`.
 */
export function readFrozen(path: string, openaiApiBase: string | null): Configuration {
  const bytes = readBytes(path);
  if (cached?.openaiApiBase !== openaiApiBase || !cached.bytes.equals(bytes)) {
    const written = parseConfiguration(parseJson(bytes, path), path, openaiApiBase);
    cached = { bytes, openaiApiBase, written: deepFreeze(written) };
  }
  return cached.written;
}

/** The same with the prompt of each entry that has a `prompt_file`: that file's text. */
export function readConfiguration(
  path: string,
  openaiApiBase: string | null = null,
): Configuration {
  return withPrompts(readFrozen(path, openaiApiBase), path);
}

/** What `path` has, with the text of each prompt's file, read once however many entries name it. */
export function withPrompts(written: Configuration, path: string): Configuration {
  const prompts = new Map<string, string>();
  for (const { signature, prompt_file: file } of written.models) {
    if (!file || prompts.has(file)) continue;
    const read = readPromptFile(resolve(dirname(path), file));
    if ('problem' in read)
      throw unusable(path, `models['${signature}'].prompt_file: ${read.problem}`, read.cause);
    prompts.set(file, read.prompt);
  }
  const models = written.models.map((entry) => {
    const prompt = prompts.get(entry.prompt_file || '');
    return prompt === undefined ? entry : { ...entry, prompt };
  });
  return deepFreeze({ ...written, models });
}

let warnedKeys: readonly string[] | null = null;

/** Warns of absent URLs and keys, and of unknown keys, once for each content of the file. */
export function warnOfContent(
  configuration: Configuration,
  { warning }: Pick<Log, 'warning'>,
): void {
  const { placeholders, unknownKeys, familyNotes } = configuration;
  if (warnedKeys === unknownKeys) return;
  warnedKeys = unknownKeys;
  if (placeholders.length > 0)
    warning('placeholders in the configuration are ignored', {
      fields: placeholders.join(', '),
    });
  for (const sentence of [...unknownKeys, ...familyNotes]) warning(sentence);
}

function findPlaceholders(content: unknown): string[] {
  const entries = asArray(asObject(content)?.['models']) ?? [];
  return entries.flatMap((entry, index) =>
    ['openai_base_url', 'openai_api_key']
      .filter((field) => isPlaceholder(asObject(entry)?.[field]))
      .map((field) => `models${itemKey(index, entry)}.${field}`),
  );
}

/** The same value, in which nothing can be changed at any depth. */
function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.values(value).forEach(deepFreeze);
  return Object.freeze(value);
}

/** Checks a configuration that was already read; `source` names it in the error. */
export function parseConfiguration(
  value: unknown,
  source: string,
  openaiApiBase: string | null = null,
): Configuration {
  const result = v.safeParse(configurationSchema, value);
  if (!result.success)
    throw unusable(
      source,
      result.issues.map((issue) => `${issuePath(issue)}: ${describeIssue(issue)}`).join('; '),
    );
  const { warnings, problems: idleLimits } = checkUnknownKeys(value);
  const { market, warnings: familyNotes, problems: ofMarket } = marketOfFamily(value);
  const problems = [
    ...ofMarket,
    ...entryProblems(result.output.models, openaiApiBase),
    ...studyProblems(result.output),
    ...idleLimits,
  ];
  if (problems.length > 0) throw unusable(source, problems.join('; '));
  const { agent_config: written, ...rest } = result.output;
  return {
    ...rest,
    written,
    agent_config: resolveTerms(written, market),
    market,
    placeholders: findPlaceholders(value),
    unknownKeys: warnings,
    familyNotes,
  };
}

/** What is wrong with entries although each of their values is one, with its path. */
function* entryProblems(
  models: readonly ModelConfiguration[],
  openaiApiBase: string | null,
): Generator<string> {
  const repeats = new Map<string, number>();
  for (const { signature, repeats: own } of models) {
    if (repeats.has(signature)) yield `models: lists the signature '${signature}' twice`;
    repeats.set(signature, own);
  }
  for (const entry of models) {
    const { signature, repeats: own } = entry;
    const [at, basemodel] = [`models['${signature}']`, findBasemodel(entry)];
    const baseline = findBaseline(entry);
    const { family, run } = parseRun(signature);
    if (entry.prompt && entry.prompt_file) yield `${at}: has both prompt and prompt_file; keep one`;
    if (run > 1 && run <= (repeats.get(family) ?? 1))
      yield `${at}.signature: is the name of a repeat of '${family}' as well`;
    if (!isSignatureLength(runName(signature, own)))
      yield `${at}.signature: leaves no room for '#${own}' in the names of its repeats`;
    if (baseline !== null && own > 1 && isDeterministic(baseline))
      yield `${at}.repeats: must be 1: every run of ${basemodel} would do the same`;
    if (baseline === null && basemodel.startsWith(BASELINE_PREFIX))
      yield `${at}.${entry.basemodel ? 'basemodel' : 'signature'}: must be one of ${baselines.join(', ')}`;
    else if (baseline === null)
      for (const problem of dialectProblems({ ...entry, basemodel }, openaiApiBase))
        yield `${at}.${problem}`;
  }
}

type Parsed = v.InferOutput<typeof configurationSchema>;

/** What is wrong with studies although each of their values is one, with its path. */
function* studyProblems({ models, universes, studies }: Parsed): Generator<string> {
  const repeats = new Map(models.map((entry) => [entry.signature, entry.repeats]));
  const names = Object.keys(studies);
  for (const [study, { universe, models: own }] of Object.entries(studies)) {
    const at = `studies.${study}`;
    if (universe != null && !Object.hasOwn(universes, universe))
      yield `${at}.universe: ${unlisted('Universe', universe, universes)}`;
    for (const name of own)
      if (!repeats.has(name))
        yield `${at}.models: no entry has the signature '${name}'${hint(name, repeats.keys())}`;
    const long = models.find(
      (entry) => !isSignatureLength(runName(familyName(entry.signature, study), entry.repeats)),
    );
    if (long !== undefined)
      yield `${at}: its name is too long to follow the name '${long.signature}'`;
  }
  for (const { signature } of models) {
    const { family, run } = parseRun(signature);
    const { signature: other = '', study = '' } = splitStudy(family) ?? {};
    if (names.includes(study) && run <= (repeats.get(other) ?? 0))
      yield `models['${signature}'].signature: is the name of '${other}' in the study '${study}' as well`;
  }
}

function unusable(source: string, problem: string, cause?: unknown): ServiceError {
  return new ServiceError(
    'broken_configuration',
    `Cannot use the server configuration ${source}: ${problem}`,
    { cause },
  );
}

/**
 * Parses a JSON file of bounded size, or a stream that a person named; the error says whether it is
 * missing, unreadable or not JSON.
 */
export function readJsonFile(path: string, { mayStream = false } = {}): unknown {
  return parseJson(readBytes(path, mayStream ? readNamedFile : readTrustedFile), path);
}

function readBytes(path: string, read = readTrustedFile): Buffer {
  try {
    return read(path, MAX_CONFIGURATION_BYTES);
  } catch (cause) {
    const missing = errorCode(cause) === 'ENOENT';
    throw missing
      ? new ServiceError('broken_configuration', `Server configuration file not found: ${path}`)
      : unreadable(path, cause);
  }
}

function parseJson(bytes: Buffer, path: string): unknown {
  let text = '';
  try {
    text = decodeText(bytes);
    return JSON.parse(text);
  } catch (error) {
    throw unreadable(
      path,
      error instanceof SyntaxError ? `it is not JSON (${errorPosition(text)})` : error,
    );
  }
}

function unreadable(path: string, cause: unknown): ServiceError {
  const message = `Cannot read the server configuration ${path}: ${errorMessage(cause)}`;
  return new ServiceError('broken_configuration', message, { cause });
}

/**
 * A configuration as a study has it: `agent_config` with its terms, and the universe and entries
 * that it names. Null is the study without a name. Throws a `ServiceError` (`unknown_study`) for a
 * name that the file does not have.
 */
export function configurationInStudy(configuration: Configuration, study: string | null) {
  if (study === null) return { configuration, universe: null, models: [] };
  const { studies } = configuration;
  const found = Object.hasOwn(studies, study) ? studies[study] : undefined;
  if (found !== undefined)
    return {
      configuration: { ...configuration, agent_config: mergeTerms(configuration, found) },
      universe: found.universe ?? null,
      models: found.models,
    };
  const problem = unlisted('Study', study, studies) + hint(study, Object.keys(studies));
  throw new ServiceError('unknown_study', problem);
}

/**
 * How the models of a job trade that picks a universe by name: with its symbols. Null picks the
 * default one, that of `agent_config` or of the program. The symbols are always named, because a
 * job stores them: a later program, whose default may be another one, replays it. `path` is that
 * of the configuration, to which a file of members is relative; its symbols are all that it names.
 * Throws a `ServiceError`: `unknown_universe` for a name that the configuration does not have,
 * `broken_configuration` for a file that cannot be used.
 */
export function agentConfigurationFor(
  { agent_config, universes }: Configuration,
  universe: string | null,
  path: string,
): AgentConfiguration {
  if (universe === null) return agent_config;
  const found = Object.hasOwn(universes, universe) ? universes[universe] : undefined;
  if (Array.isArray(found)) return { ...agent_config, stock_symbols: found };
  if (found === undefined)
    throw new ServiceError('unknown_universe', unlisted('Universe', universe, universes));
  const file = resolve(dirname(path), found.members);
  try {
    const members = readMembers(file);
    const symbols = new Set(members.map(({ symbol }) => symbol));
    return { ...agent_config, stock_symbols: [...symbols], members };
  } catch (cause) {
    throw unusable(path, `universes.${universe}.members: ${file}: ${errorMessage(cause)}`, cause);
  }
}

function unlisted(kind: 'Study' | 'Universe', name: string, all: object): string {
  const known = list(Object.keys(all)) || 'none';
  return `${kind} '${name}' is not in the server configuration: it names ${known}`;
}

/** An agent configuration as stored with a job. */
export function parseAgentConfiguration(stored: string): AgentConfiguration {
  return v.parse(storedConfigSchema, JSON.parse(stored));
}

/** As above for several jobs, by job; jobs with the same configuration share one object. */
export function parseAgentConfigurations(
  stored: ReadonlyMap<string, string>,
): Map<string, AgentConfiguration> {
  const parsed = new Map<string, AgentConfiguration>();
  return new Map(
    [...stored].map(([jobId, text]) => {
      const configuration = parsed.get(text) ?? parseAgentConfiguration(text);
      parsed.set(text, configuration);
      return [jobId, configuration];
    }),
  );
}

type Issue = v.BaseIssue<unknown>;

/** `models['gpt-5'].seed`, the path by which a reader finds it in the file. */
function issuePath(issue: Issue): string {
  const keys =
    issue.path?.map(({ key, value }) =>
      typeof key === 'number' ? itemKey(key, value) : `.${String(key)}`,
    ) ?? [];
  return keys.join('').replace(/^\./, '') || 'the file';
}

/** Describes an issue without its value, which may be a key. */
function describeIssue(issue: Issue): string {
  if (issue.input === undefined) return 'is missing';
  if (!issue.message.startsWith('Invalid')) return issue.message;
  const got =
    issue.input === null ? 'null' : Array.isArray(issue.input) ? 'array' : typeof issue.input;
  return issue.kind === 'schema'
    ? `expected ${issue.expected}, got ${got}`
    : `must be ${issue.expected ?? 'a whole number'}`;
}
