import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { resolve } from 'node:path';
import { assertUsableName } from '../database/storage/new-file.ts';
import { messageOf, ServiceError } from '../basics/domain.ts';

/**
 * Creates a folder with content, all or nothing: `fill` writes into one with a temporary name
 * beside it, which gets the final name once it is complete. An empty folder is replaced, anything
 * else refused. Throws a `ServiceError` (`cannot_start`) that says why there is no folder, or what
 * `fill` throws on purpose.
 */
export async function createFolder<Result>(
  path: string,
  database: string,
  fill: (folder: string) => Promise<Result>,
): Promise<Result> {
  const target = existsSync(path) ? realpathSync(path) : resolve(path);
  const unfinished = `${target}.${process.pid}-${crypto.randomUUID().slice(0, 8)}.unfinished`;
  try {
    assertUsableName(target, database);
    if (!existsSync(path) && lstatSync(path, { throwIfNoEntry: false }) !== undefined)
      throw new Error('it is a symbolic link that leads nowhere');
    if (existsSync(target) && readdirSync(target).length > 0) throw new Error('it is not empty');
    mkdirSync(unfinished);
    const result = await fill(unfinished);
    renameSync(unfinished, target); // fails if something was put into the folder meanwhile
    return result;
  } catch (error) {
    if (error instanceof ServiceError || (error instanceof Error && error.name === 'AbortError'))
      throw error;
    throw new ServiceError(
      'cannot_start',
      `Cannot create the folder ${path}: ${messageOf(error)}`,
      { cause: error },
    );
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}
