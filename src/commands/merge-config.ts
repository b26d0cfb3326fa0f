import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseConfiguration, readJsonFile } from '../configuration.ts';
import { ServiceError, messageOf } from '../domain.ts';
import { asArray, asObject, asText } from '../json.ts';
import { DEFAULT_CONFIGURATION_PATH, readSettings } from '../settings.ts';
import { forTerminal } from '../text.ts';

const USER_CONFIGURATION_PATH = 'user-configs/config.json';

/**
 * The command `merge-config`: writes the default configuration merged with the user's (RFC 7396: objects are merged key by
 * key, anything else replaces, null removes) to RUNTIME_CONFIG_PATH, where `serve` reads it. Without a user configuration,
 * writes the default. Throws a `ServiceError` when either is broken, and writes nothing then.
 */
export async function mergeConfig(userFile?: string): Promise<number> {
  const { runtimeConfigurationPath: target } = readSettings(process.env);
  const userPath = userFile ?? USER_CONFIGURATION_PATH;
  const base = readFrom(DEFAULT_CONFIGURATION_PATH);
  parseConfiguration(base, DEFAULT_CONFIGURATION_PATH);
  const isGiven = userFile !== undefined || existsSync(userPath);
  const merged = isGiven ? mergePatch(base, readFrom(userPath)) : base;
  parseConfiguration(
    merged,
    isGiven ? `${userPath}, merged over ${DEFAULT_CONFIGURATION_PATH}` : DEFAULT_CONFIGURATION_PATH,
  );
  writeAtomically(target, `${JSON.stringify(merged, null, 2)}\n`);
  const done = isGiven
    ? `Merged ${userPath} over ${DEFAULT_CONFIGURATION_PATH} into ${target}`
    : `No ${userPath}: copied ${DEFAULT_CONFIGURATION_PATH} to ${target}`;
  process.stderr.write(`${forTerminal(done)}\n`);
  return 0;
}

/** A configuration whose prompt files have absolute paths, because they are relative to a file that is merged into another. */
function readFrom(path: string): unknown {
  const content = readJsonFile(path);
  const models = asArray(asObject(content)?.['models']);
  if (models === undefined) return content;
  const absolute = models.map((entry) => {
    const file = asText(asObject(entry)?.['prompt_file']);
    return file === undefined ? entry : { ...asObject(entry), prompt_file: resolve(dirname(path), file) };
  });
  return { ...asObject(content), models: absolute };
}

/** JSON Merge Patch, RFC 7396. */
function mergePatch(base: unknown, patch: unknown): unknown {
  const changes = asObject(patch);
  if (changes === undefined) return patch;
  const merged = { ...asObject(base) };
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) delete merged[key];
    else merged[key] = mergePatch(merged[key], value);
  }
  return merged;
}

/** The file may hold keys: only its owner can read it, and it appears only once complete. */
function writeAtomically(path: string, text: string): void {
  try {
    writeFileSync(`${path}.new`, text, { mode: 0o600 });
    renameSync(`${path}.new`, path);
  } catch (error) {
    throw new ServiceError('cannot_start', `Cannot write the merged configuration: ${messageOf(error)}`);
  }
}
