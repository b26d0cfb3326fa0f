import {
  type BigIntStats,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { errorCode, errorMessage, ServiceError } from '#domain/service-error.ts';
import { fits } from '#text/text.ts';

/** Characters of a prompt, counted as JSON Schema does: an emoji is one. */
export const MAX_PROMPT_LENGTH = 20_000;
/** With characters of 4 bytes, after a byte order mark. */
const MAX_BYTES = 4 * MAX_PROMPT_LENGTH + 3;

/** The text of a prompt's file, or why it cannot be used. A byte order mark is not part of it. */
export function readPromptFile(
  path: string,
): { prompt: string } | { problem: string; cause?: unknown } {
  const problem = `${path} has more than ${MAX_PROMPT_LENGTH} characters`;
  try {
    const prompt = readTrustedText(path, MAX_BYTES);
    return fits(prompt, MAX_PROMPT_LENGTH) ? { prompt } : { problem };
  } catch (cause) {
    if (cause instanceof FileTooLarge) return { problem };
    if (cause instanceof ForeignFile) return { problem: cause.message, cause };
    if (errorCode(cause) === 'ENOENT') return { problem: `there is no file ${path}` };
    return { problem: `cannot read ${path}: ${errorMessage(cause)}` };
  }
}

/** The files that decide where keys go: configuration, `.env`, access tokens, prompts. */

/** Thrown for a file that another user of the machine may have put where it is. */
export class ForeignFile extends Error {}

/** Thrown for a file that is larger than it may be. */
class FileTooLarge extends Error {}

const ROOT = 0n;
const BY_GROUP = 0o020n;
const BY_OTHERS = 0o002n;
/** A FIFO without a writer is opened at once, and then refused; a terminal is not taken over. */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * The bytes of a regular file. Throws a `TooLarge` for one of more than `maxBytes`; a `ForeignFile`
 * when a folder on the way to it may be written by others, and what lies there belongs neither to
 * this process's user nor to root; an `Error` that says what the file is when it is not a regular
 * one.
 */
export function readTrustedFile(path: string, maxBytes: number): Buffer {
  refuseOpenDatabase(path);
  const file = openSync(path, FLAGS);
  try {
    const opened = fstatSync(file, { bigint: true });
    if (!opened.isFile())
      throw new Error(opened.isDirectory() ? 'it is a folder' : 'it is not a regular file');
    const found = followTrusted(path);
    if (found.ino !== opened.ino || found.dev !== opened.dev)
      throw new Error('it was replaced while it was read; try again');
    return readAll(file, maxBytes);
  } finally {
    closeSync(file);
  }
}

/**
 * Throws for a file that SQLite may have open, whatever links lead to it: a database, its log, a
 * lock. To open and close it by other means would drop the locks that this process has on it.
 */
export function refuseOpenDatabase(path: string): void {
  const file = resolveLinks(path);
  if (/(-wal|-shm|\.lock)$/.test(file) || existsSync(`${file}-wal`) || isOpenByAnotherName(file))
    throw new Error('it is a database');
}

/** A pipe, or a file without a name, has no other path. */
function resolveLinks(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

const STANDARD_ERROR = 2;

/**
 * Whether a file has several names and is open here, but not as a standard stream. A file without a
 * name is a copy.
 */
function isOpenByAnotherName(path: string): boolean {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (found === undefined || found.nlink <= 1n) return false;
  return readdirSync('/dev/fd').some((name) => {
    const open = statSync(`/dev/fd/${name}`, { bigint: true, throwIfNoEntry: false });
    return Number(name) > STANDARD_ERROR && open?.ino === found.ino && open.dev === found.dev;
  });
}

/** The bytes of a file that a person names on the command line: such a file, or a stream. */
export function readNamedFile(path: string, maxBytes: number): Buffer {
  if (statSync(path).isFile()) return readTrustedFile(path, maxBytes);
  const stream = openSync(path, constants.O_RDONLY);
  try {
    return readAll(stream, maxBytes);
  } finally {
    closeSync(stream);
  }
}

/**
 * The text of a file as `readTrustedFile` reads it, which is UTF-8; a byte order mark is not part
 * of it.
 */
export function readTrustedText(path: string, maxBytes: number): string {
  return decodeText(readTrustedFile(path, maxBytes));
}

/** Bytes as text. Throws an `Error` when they are not UTF-8. */
export function decodeText(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Error('it is not UTF-8 text');
  }
}

/**
 * The error for a file that others may have put in place, if that is why something was refused at
 * the start or at a trigger.
 */
export function foreignFileError(error: unknown): ServiceError | null {
  const isForeign = error instanceof ServiceError && error.cause instanceof ForeignFile;
  return isForeign
    ? new ServiceError('cannot_start', `Cannot start: ${error.message}`, { cause: error.cause })
    : null;
}

function readAll(file: number, maxBytes: number): Buffer {
  const bytes = Buffer.allocUnsafe(maxBytes + 1);
  let length = 0;
  for (let read = -1; read !== 0 && length < bytes.length; length += read)
    read = readSync(file, bytes, length, bytes.length - length, null);
  if (length > maxBytes) throw new FileTooLarge(`it is larger than ${maxBytes} bytes`);
  return Buffer.from(bytes.subarray(0, length));
}

/**
 * Walks to a file, folder by folder and link by link, as the system does; throws a `ForeignFile` on
 * the way.
 */
function followTrusted(path: string): BigIntStats {
  const names = (isAbsolute(path) ? path : `${process.cwd()}/${path}`).split('/');
  let place = '/';
  let found = lstatSync(place, { bigint: true });
  for (;;) {
    const name = names.shift();
    if (name === undefined) return found;
    const next = join(place, name);
    const entry = lstatSync(next, { bigint: true });
    if (name !== '' && name !== '.' && name !== '..')
      refuseForeign(next, entry, lstatSync(place, { bigint: true }));
    if (entry.isSymbolicLink()) {
      const target = readlinkSync(next);
      names.unshift(...target.split('/'));
      if (isAbsolute(target)) place = '/';
    } else [place, found] = [next, entry];
  }
}

/**
 * What lies in a folder that everyone may write must belong to this process's user or to root; in
 * one that a group may write, it may also belong to the folder's owner.
 */
function refuseForeign(path: string, { uid }: BigIntStats, folder: BigIntStats): void {
  const user = process.geteuid?.();
  if (user === undefined || uid === ROOT || uid === BigInt(user)) return;
  const isSafe =
    (folder.mode & BY_OTHERS) === 0n && ((folder.mode & BY_GROUP) === 0n || uid === folder.uid);
  if (isSafe) return;
  throw new ForeignFile(
    `${path} belongs to user ${uid}, who could use it to redirect your API keys: ` +
      `change its owner to root or user ${user} (chown), or move it to a folder that others cannot write`,
  );
}
