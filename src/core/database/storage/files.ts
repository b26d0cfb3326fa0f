import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { errorCode } from '#domain/service-error.ts';

/** As many symbolic links as Linux itself follows. */
const MAX_LINKS = 40;

/** Where a name leads once every symbolic link is followed, even if the file does not exist yet. */
export function realPath(path: string): string {
  let place = path;
  for (let links = 0; links < MAX_LINKS; links += 1) {
    const folder = realFolder(dirname(place));
    place = join(folder, basename(place));
    const entry = lstatSync(place, { throwIfNoEntry: false });
    if (entry === undefined || !entry.isSymbolicLink()) return place;
    const target = readlinkSync(place);
    place = isAbsolute(target) ? target : join(folder, target);
  }
  throw new Error(`${path} leads through more than ${MAX_LINKS} symbolic links`);
}

/** As `realPath`, for a folder. */
export function realFolder(folder: string): string {
  try {
    return realpathSync.native(folder);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    return join(realFolder(dirname(folder)), basename(folder)); // opening the file creates the folder
  }
}

/**
 * The bytes that say how a file is written and read
 * (https://sqlite.org/fileformat2.html#file_format_version_numbers).
 */
const VERSIONS_AT = 18;
const WITHOUT_LOG = Buffer.from([1, 1]);

/**
 * Throws for what cannot be opened as a database: anything but a regular file, because a FIFO would
 * be waited for, and a backup that was copied over another database beside whose log it now lies,
 * because SQLite would apply that log to it. A missing file is none of them.
 */
export function assertUsable(path: string): void {
  const place = realPath(path);
  const found = statSync(place, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (found.isDirectory()) throw new Error('it is a folder');
  if (!found.isFile()) throw new Error('it is not a regular file');
  const log = statSync(`${place}-wal`, { throwIfNoEntry: false });
  if (log !== undefined && log.size > 0 && !isWrittenWithLog(place))
    throw new Error(
      `it was copied next to the log of another database, ${basename(place)}-wal, which would damage it; ` +
        'move that log and the -shm file away, and use restore to bring back a backup',
    );
}

/**
 * Whether a database is written with a log beside it. A service's file says so before there is a
 * log; a backup says that it has none.
 */
function isWrittenWithLog(file: string): boolean {
  const versions = Buffer.alloc(WITHOUT_LOG.length);
  const descriptor = openSync(file, 'r');
  try {
    readSync(descriptor, versions, 0, versions.length, VERSIONS_AT);
  } finally {
    closeSync(descriptor);
  }
  return !versions.equals(WITHOUT_LOG);
}

/**
 * Returns a function that tells whether a name still leads to the file that is there now; to none
 * at all, if none is. Writes to a file that was removed are lost when the process ends. Some file
 * systems give a file a new number, so the number by itself decides nothing; nor does a folder that
 * cannot be read.
 */
function watchPlace(path: string): () => boolean {
  const seen = statSync(path, { bigint: true, throwIfNoEntry: false });
  return () => {
    try {
      const found = statSync(path, { bigint: true });
      return found.ino === seen?.ino || found.birthtimeNs === seen?.birthtimeNs;
    } catch (error) {
      return errorCode(error) !== 'ENOENT' || seen === undefined;
    }
  };
}

/**
 * Returns a function that tells what has become of a database that is open with a log: why nothing
 * may be written to it any more, or null. Another program that finds no lock on the database
 * removes the log, although this process still writes to it.
 */
export function watchFiles(path: string): () => string | null {
  const isInPlace = watchPlace(path);
  const file = realPath(path);
  const sides = ['-wal', '-shm'].map((suffix) => ({
    name: basename(file) + suffix,
    isThere: watchPlace(file + suffix),
  }));
  return () => {
    if (!isInPlace()) return 'its file was removed or replaced while the service runs';
    const lost = sides.find(({ isThere }) => !isThere());
    if (lost === undefined) return null;
    return `another program removed or replaced ${lost.name} while the service runs; restart the service, and then run check`;
  };
}

/** Whether the database or a log beside it has been written later than a time, in milliseconds. */
export function wasWrittenAfter(path: string, timeMs: number): boolean {
  const file = realPath(path);
  return [file, `${file}-wal`].some((place) => {
    const found = statSync(place, { throwIfNoEntry: false });
    return found !== undefined && found.size > 0 && found.mtimeMs > timeMs;
  });
}

/**
 * Works in a new folder among the system's temporary files, which is removed at the end, also when
 * the process ends before.
 */
export async function withTemporaryFolder<Result>(
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'tss-'));
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  process.once('exit', remove);
  try {
    return await work(folder);
  } finally {
    process.off('exit', remove);
    remove();
  }
}

/**
 * Creates a folder and its missing parents. Node's own recursive option reports a read-only file
 * system as a missing folder.
 */
export function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process may have created it first; a link that leads nowhere is in the way.
    if (errorCode(error) !== 'EEXIST' || !existsSync(folder)) throw error;
  }
}
