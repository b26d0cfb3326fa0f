import { closeSync, existsSync, lstatSync, openSync, readSync, realpathSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseConfiguration, readJsonFile } from '#settings/configuration.ts';
import { assertUsableName, replaceFile } from '#database/storage/new-file.ts';
import { cannot } from '#domain/service-error.ts';
import { asObject, asText, type Json } from '#json/json.ts';
import { mapFields } from '#settings/entry.ts';
import type { Settings } from '#settings/settings.ts';
import { forTerminal } from '#text/text.ts';

const USER_CONFIGURATION_PATH = 'user-configs/config.json';
const SQLITE_HEAD = Buffer.from('SQLite format 3\0');

interface Merge
  extends Pick<Settings, 'databasePath' | 'defaultConfigurationPath' | 'runtimePathNote'> {
  userFile: string | null;
  target: string;
}

/**
 * The command `merge-config`: writes the default configuration merged with the user's (RFC 7396:
 * objects are merged key by key, anything else replaces, null removes) to `target`, never beside
 * the database under a name of SQLite's. `userFile` is null for the usual place; without a file
 * there, writes the default. Throws a `ServiceError` when either is broken, and writes nothing
 * then.
 */
export async function mergeConfig({
  userFile,
  target,
  databasePath,
  defaultConfigurationPath: defaultPath,
  runtimePathNote: note,
}: Merge): Promise<number> {
  const userPath = userFile ?? USER_CONFIGURATION_PATH;
  const base = readSource(defaultPath);
  parseConfiguration(base, defaultPath);
  let merged = base;
  let done = `No ${userPath}: copied ${defaultPath} to ${target}`;
  const sources = [defaultPath];
  if (userFile !== null || existsSync(userPath)) {
    merged = mergePatch(base, readSource(userPath, { mayStream: userFile !== null }));
    parseConfiguration(merged, `${userPath}, merged over ${defaultPath}`);
    sources.push(userPath);
    done = `Merged ${userPath} over ${defaultPath} into ${target}`;
  }
  writeConfiguration(target, `${JSON.stringify(merged, null, 2)}\n`, { sources, databasePath });
  process.stderr.write(`${forTerminal(done + note)}\n`);
  return 0;
}

/** What names files: of each model, and of each universe. */
const FILES = ['models.prompt_file', 'universes.members'];

/**
 * A configuration whose files have absolute paths, because they are relative to a file that is
 * merged into another.
 */
function readSource(path: string, options = {}): unknown {
  return mapFields(readJsonFile(path, options), ([part, , key], value) => {
    const file = FILES.includes(`${part}.${key}`) ? asText(value) : undefined;
    return file === undefined ? value : resolve(dirname(path), file);
  });
}

/** JSON Merge Patch, RFC 7396. */
function mergePatch(base: unknown, patch: unknown): unknown {
  const changes = asObject(patch);
  if (changes === undefined) return patch;
  const merged: Json = { __proto__: null, ...asObject(base) };
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) delete merged[key];
    else merged[key] = mergePatch(merged[key], value);
  }
  return merged;
}

/** Files that the merge must not overwrite. */
interface ProtectedPaths {
  sources: string[];
  databasePath: string;
}

/**
 * The file may hold keys: only its owner can read it, and it appears only once complete. Its first
 * name is random, so that no link can lie there.
 */
function writeConfiguration(path: string, text: string, kept: ProtectedPaths): void {
  const unfinished = `${path}.${crypto.randomUUID()}.new`;
  try {
    assertReplaceable(path, kept);
    replaceFile(path, text, { unfinished, flush: true, mode: 0o600 });
  } catch (error) {
    throw cannot(`write the merged configuration ${path}`, error);
  }
}

/**
 * Throws unless the name is free, or that of an earlier configuration: the file at it is replaced.
 */
function assertReplaceable(path: string, { sources, databasePath }: ProtectedPaths): void {
  assertUsableName(path, databasePath);
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (found.isSymbolicLink()) throw new Error('it is a symbolic link');
  if (!found.isFile()) throw new Error('it is not a file');
  if (sources.some((source) => realpathSync(source) === realpathSync(path)))
    throw new Error('it is one of the files that are merged');
  if (isDatabase(path)) throw new Error('it is a database');
}

function isDatabase(path: string): boolean {
  const head = Buffer.alloc(SQLITE_HEAD.length);
  const file = openSync(path, 'r');
  try {
    readSync(file, head, 0, head.length, 0);
  } finally {
    closeSync(file);
  }
  return head.equals(SQLITE_HEAD);
}
