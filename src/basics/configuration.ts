import { dirname, resolve } from 'node:path';
import * as v from 'valibot';
import {
  agentConfigSchema,
  type AgentConfiguration,
  baselineOf,
  basemodelOf,
  type Configuration,
  configurationSchema,
  isPlaceholder,
  nasdaq100,
} from './configuration-schema.ts';
import { warnOfUnknownKeys } from './configuration-keys.ts';
import { codeOf, messageOf, ServiceError } from './domain.ts';
import { asArray, asObject, placeOfError } from './json.ts';
import type { Log } from './log.ts';
import { askingProblems } from './makers.ts';
import { decodeText, readNamedFile, readPromptFile, readTrustedFile } from './trusted-file.ts';
import { list } from './sentences.ts';

const MAX_CONFIGURATION_BYTES = 4 * 1024 * 1024;

interface Remembered {
  /** Compared as bytes: to decode them takes three times as long as to read them. */
  bytes: Buffer;
  openaiApiBase: string | null;
  /** What the file says, before prompts were read. */
  written: Configuration;
  prompts: ReadonlyMap<string, string>;
  /** With the prompts. */
  configuration: Configuration;
}

/** The file is read for every request, but thousands of models take ten milliseconds to check. */
let last: Remembered | null = null;

/**
 * Reads the server's configuration file, and checks it unless it still is as it was read last.
 * Throws a `ServiceError` (`broken_configuration`) that names the file and the path of each wrong
 * value in it. The prompt of each entry with a `prompt_file` is that file's text. `openaiApiBase`
 * is where entries without a URL are asked, if not at their makers. Callers share the result, which
 * is frozen.
 */
export function readConfiguration(
  path: string,
  openaiApiBase: string | null = null,
): Configuration {
  const bytes = readBytes(path);
  const known = last?.openaiApiBase === openaiApiBase && last.bytes.equals(bytes) ? last : null;
  const written = known?.written ?? parseConfiguration(parseJson(bytes, path), path, openaiApiBase);
  const prompts = readPrompts(written, path);
  if (
    known !== null &&
    prompts.entries().every(([file, prompt]) => known.prompts.get(file) === prompt)
  )
    return known.configuration;
  const models = written.models.map((entry) => {
    const prompt = prompts.get(entry.prompt_file || '');
    return prompt === undefined ? entry : { ...entry, prompt };
  });
  const configuration = freeze({ ...written, models });
  last = { bytes, openaiApiBase, written, prompts, configuration };
  return configuration;
}

let said: readonly string[] | null = null;

/** Warns of absent URLs and keys, and of unknown keys, once for each content of the file. */
export function warnOfContent(
  configuration: Configuration,
  { warning }: Pick<Log, 'warning'>,
): void {
  const { placeholders, unknownKeys } = configuration;
  if (said === unknownKeys) return;
  said = unknownKeys;
  if (placeholders.length > 0)
    warning('placeholders in the configuration count as absent', {
      fields: placeholders.join(', '),
    });
  for (const sentence of unknownKeys) warning(sentence);
}

function placeholdersIn(content: unknown): string[] {
  const entries = asArray(asObject(content)?.['models']) ?? [];
  return entries.flatMap((entry, index) =>
    ['openai_base_url', 'openai_api_key']
      .filter((field) => isPlaceholder(asObject(entry)?.[field]))
      .map((field) => `models[${index}].${field}`),
  );
}

/** The text of each prompt's file, read once however many entries name it. */
function readPrompts({ models }: Configuration, path: string): Map<string, string> {
  const prompts = new Map<string, string>();
  for (const [index, { prompt_file: file }] of models.entries()) {
    if (!file || prompts.has(file)) continue;
    const read = readPromptFile(resolve(dirname(path), file));
    if ('problem' in read)
      throw unusable(path, `models[${index}].prompt_file: ${read.problem}`, read.cause);
    prompts.set(file, read.prompt);
  }
  return prompts;
}

/** The same value, in which nothing can be changed at any depth. */
function freeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.values(value).forEach(freeze);
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
      result.issues.map((issue) => `${pathOf(issue)}: ${describe(issue)}`).join('; '),
    );
  const problems = result.output.models.flatMap((entry, index) => {
    const asked =
      baselineOf(entry) === null
        ? askingProblems({ ...entry, basemodel: basemodelOf(entry) }, openaiApiBase)
        : [];
    return asked.map(({ key, message }) => `models[${index}].${key}: ${message}`);
  });
  if (problems.length > 0) throw unusable(source, problems.join('; '));
  return {
    ...result.output,
    placeholders: placeholdersIn(value),
    unknownKeys: warnOfUnknownKeys(value),
  };
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
    const missing = codeOf(cause) === 'ENOENT';
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
      error instanceof SyntaxError ? `it is not JSON (${placeOfError(text)})` : error,
    );
  }
}

function unreadable(path: string, cause: unknown): ServiceError {
  const message = `Cannot read the server configuration ${path}: ${messageOf(cause)}`;
  return new ServiceError('broken_configuration', message, { cause });
}

/**
 * The symbols that may be bought. A stored configuration without symbols, as the first jobs had it,
 * means the NASDAQ-100.
 */
/** Whether an order costs anything beside its price. */
export function hasTradingCosts(agentConfig: AgentConfiguration): boolean {
  const {
    commission_per_trade: perTrade,
    commission_bps: bps,
    slippage_bps: slippage,
  } = agentConfig;
  return [perTrade, bps, slippage].some((cost) => Number(cost) !== 0);
}

export function universeOf(agentConfig: AgentConfiguration): readonly string[] {
  return agentConfig.stock_symbols ?? nasdaq100;
}

/**
 * How the models of a job trade that picks a universe by name: with its symbols. Null picks the
 * default one, that of `agent_config` or of the program. The symbols are always named, because a
 * job stores them: a later program, whose default may be another one, replays it. Throws a
 * `ServiceError` (`unknown_universe`) for a name that the configuration does not have.
 */
export function agentConfigurationFor(
  { agent_config, universes }: Configuration,
  universe: string | null,
): AgentConfiguration {
  if (universe === null) return { ...agent_config, stock_symbols: [...universeOf(agent_config)] };
  const symbols = Object.hasOwn(universes, universe) ? universes[universe] : undefined;
  if (symbols !== undefined) return { ...agent_config, stock_symbols: symbols };
  const names = Object.keys(universes);
  const known = names.length === 0 ? 'it names none' : `it names ${list(names)}`;
  throw new ServiceError(
    'unknown_universe',
    `Universe '${universe}' is not in the server configuration: ${known}`,
  );
}

/**
 * An agent configuration as stored with a job. Jobs of before dividends, which have no word on
 * them, pay none.
 */
export function parseAgentConfiguration(stored: string): AgentConfiguration {
  return v.parse(agentConfigSchema, { dividends: false, ...JSON.parse(stored) });
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

/** `models[2].signature`, the path by which a reader finds it in the file. */
function pathOf(issue: Issue): string {
  const keys =
    issue.path?.map(({ key }) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)) ?? [];
  return keys.join('').replace(/^\./, '') || 'the file';
}

/** Never the value itself: it may be a key in the wrong place. */
function describe(issue: Issue): string {
  if (issue.input === undefined) return 'is missing';
  if (!issue.message.startsWith('Invalid')) return issue.message;
  const got =
    issue.input === null ? 'null' : Array.isArray(issue.input) ? 'array' : typeof issue.input;
  return issue.kind === 'schema'
    ? `expected ${issue.expected}, got ${got}`
    : `must be ${issue.expected ?? 'a whole number'}`;
}
