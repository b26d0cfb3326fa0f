import { closeSync, lstatSync, openSync, readSync, renameSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ServiceError } from '../../basics/domain.ts';
import { realPathOf } from './files.ts';
import { flushFolder } from './new-file.ts';

/**
 * A verified copy beside a database, under its name and this suffix, is on its way into the
 * database's place. From the moment it has that name the restore is decided: whatever else has the
 * database's name is the old one, and only `finishRestore` may continue.
 */
const READY = '-restore';

/** What makes up a database, the file itself last. */
const PARTS = ['-wal', '-shm', '-journal', ''] as const;

/**
 * The bytes that say how a file is written and read
 * (https://sqlite.org/fileformat2.html#file_format_version_numbers).
 */
const VERSIONS_AT = 18;
const WITHOUT_LOG = 1;

/**
 * Throws a `ServiceError` (`storage_fault`) for a database whose restore was interrupted, and for
 * one that was copied over another beside whose log it now lies: SQLite would apply that log to it.
 */
export function assertOwnLog(path: string): void {
  const place = realPathOf(path);
  if (exists(place + READY))
    throw refusal(
      path,
      'a restore of it was interrupted; start the service, or run restore again, to finish it',
    );
  if (hasForeignLog(place))
    throw refusal(
      path,
      `it was copied there beside the log of another database, ${basename(place)}-wal, which would damage it; ` +
        'move that log and the -shm file away, and use restore to bring back a backup',
    );
}

/**
 * A service's database says that it has a log before it has one; a backup says that it has none.
 */
function hasForeignLog(place: string): boolean {
  const log = statSync(`${place}-wal`, { throwIfNoEntry: false });
  if (log === undefined || log.size === 0 || !exists(place)) return false;
  const versions = Buffer.alloc(2);
  const file = openSync(place, 'r');
  try {
    return (
      readSync(file, versions, 0, 2, VERSIONS_AT) === 2 &&
      versions.every((version) => version === WITHOUT_LOG)
    );
  } finally {
    closeSync(file);
  }
}

/** Where the database goes that a copy of this time replaces. */
export function asideName(path: string, time: Date): string {
  const place = realPathOf(path);
  const name = basename(place, '.db');
  return join(
    dirname(place),
    `${name}-before-restore-${time.toISOString().slice(0, 19).replaceAll(':', '-')}Z.db`,
  );
}

/**
 * Decides a restore: a copy that is complete and on the disk is ready to take the place of the
 * database.
 */
export function makeReady(copy: string, path: string): void {
  const place = realPathOf(path);
  renameSync(copy, place + READY);
  flushFolder(dirname(place));
}

/**
 * Finishes a restore that is decided: moves the old database with its log aside, and the copy into
 * its place. Killed at any moment, it is called again and continues. Returns where the old database
 * is, null if there was none; undefined when no restore was under way. Only the owner of the
 * database may call it.
 */
export function finishRestore(path: string): string | null | undefined {
  const place = realPathOf(path);
  const copy = lstatSync(place + READY, { throwIfNoEntry: false });
  if (copy === undefined) return undefined;
  if (!copy.isFile()) throw refusal(path, `${place}${READY} is not a regular file; move it away`);
  const aside = asideName(path, copy.mtime);
  for (const part of PARTS.filter((suffix) => exists(place + suffix))) {
    if (exists(aside + part))
      throw refusal(
        path,
        `a restore of it was interrupted, and both ${place}${part} and ${aside}${part} exist; move one of them away`,
      );
    renameSync(place + part, aside + part);
  }
  flushFolder(dirname(place)); // no power cut may leave the new database beside the old log
  renameSync(place + READY, place);
  flushFolder(dirname(place));
  return PARTS.some((part) => exists(aside + part)) ? aside : null;
}

/** Whether a name can be given to what is moved aside. */
export function isFreeAside(aside: string): boolean {
  return !PARTS.some((part) => exists(aside + part));
}

/** Also a link that leads nowhere exists. */
function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function refusal(path: string, why: string): ServiceError {
  return new ServiceError('storage_fault', `Cannot use ${path}: ${why}`);
}
