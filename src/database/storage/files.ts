import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { codeOf } from '../../basics/domain.ts';

/** As many symbolic links as Linux itself follows. */
const MAX_LINKS = 40;

/** Where a name leads once every symbolic link is followed, even if the file does not exist yet. */
export function realPathOf(path: string): string {
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

/** As `realPathOf`, for a folder. */
export function realFolder(folder: string): string {
  try {
    return realpathSync.native(folder);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    return join(realFolder(dirname(folder)), basename(folder)); // opening the file creates the folder
  }
}

/**
 * Throws for anything but a regular file, because a FIFO would be waited for, and when a database
 * has hard links or mounts in several places: SQLite finds the write-ahead log by the database's
 * name, and two programs with a log each overwrite each other's writes. Symbolic links are safe:
 * they lead to one name. A missing file has no names.
 */
export function assertOneName(path: string): void {
  const place = realPathOf(path);
  const found = statSync(place, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) throw new Error('it is a folder');
  if (found?.isFile() === false) throw new Error('it is not a regular file');
  const links = found?.nlink ?? 1;
  if (links > 1)
    throw new Error(
      `the file has ${links} names (hard links), and SQLite would keep a separate log for each; keep one of them ` +
        `("find FOLDER -samefile ${path}" finds the others) and use symbolic links or copies instead`,
    );
  if (mountPoints().has(place))
    throw new Error(
      'the file itself is a mount, and the log that SQLite keeps beside it would stay outside; mount its folder instead',
    );
}

/** All mount points that this process can see; none on a system without such a list. */
function mountPoints(): ReadonlySet<string> {
  try {
    const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
    return new Set(lines.map((line) => unescapeOctal(line.split(' ')[4] ?? '')));
  } catch {
    return new Set();
  }
}

/** The list writes blanks and backslashes as `\040` and `\134`. */
function unescapeOctal(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}

/**
 * Works in a new folder among the system's temporary files, which is removed at the end, also when
 * the process ends before.
 */
export async function inTemporaryFolder<Result>(
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
    if (codeOf(error) !== 'EEXIST' || !existsSync(folder)) throw error;
  }
}
