import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseConfiguration, readJsonFile } from '../configuration.ts';
import { ServiceError, messageOf } from '../domain.ts';
import { asArray, asObject, asText } from '../json.ts';
import { DEFAULT_CONFIGURATION_PATH } from '../settings.ts';
import { forTerminal } from '../text.ts';

const USER_CONFIGURATION_PATH = 'user-configs/config.json';

/**
 * The command `merge-config`: writes the default configuration merged with the user's (RFC 7396: objects are merged key by
 * key, anything else replaces, null removes) to `target`. `userFile` is null for the usual place; without a file there, writes the
 * default. Throws a `ServiceError` when either is broken, and writes nothing then.
 */
export async function mergeConfig({ userFile, target }: { userFile: string | null; target: string }): Promise<number> {
  const userPath = userFile ?? USER_CONFIGURATION_PATH;
  const base = readFrom(DEFAULT_CONFIGURATION_PATH);
  parseConfiguration(base, DEFAULT_CONFIGURATION_PATH);
  const isGiven = userFile !== null || existsSync(userPath);
  const merged = isGiven ? mergePatch(base, readFrom(userPath, { mayStream: userFile !== null })) : base;
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
function readFrom(path: string, options = {}): unknown {
  const content = readJsonFile(path, options);
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

/**
 * The file may hold keys: only its owner can read it, it is new and never a link that another user has left, and it appears only
 * once complete.
 */
function writeAtomically(path: string, text: string): void {
  const unfinished = `${path}.${crypto.randomUUID()}.new`;
  try {
    writeFileSync(unfinished, text, { mode: 0o600, flag: 'wx' });
    renameSync(unfinished, path);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw new ServiceError('cannot_start', `Cannot write the merged configuration: ${messageOf(error)}`);
  }
}
