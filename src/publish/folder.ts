import {
  appendFileSync,
  type Dirent,
  existsSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  unlinkSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { ServiceError } from '../basics/domain.ts';
import { makeFolder } from '../database/storage/files.ts';
import { replaceFile } from '../database/storage/new-file.ts';

/** Names the files of the folder that are ours, a line for each; it grows before they do. */
const MANIFEST = 'published.txt';
/** What a repository or its pages keep in the folder of a site. */
const OF_OTHERS = ['.git', 'CNAME'];
const PARTIAL = '.partial';

/** What came of the files of a folder. */
export interface Written {
  files: number;
  bytes: number;
  changed: number;
  removed: number;
}

/** A folder that gets the files of a site, and keeps those that have not changed. */
export interface PublishedFolder {
  /** Writes a file, unless it has this content already. Throws for a path that was written before. */
  write(path: string, content: string | Buffer): void;
  /** Removes what was not written this time. */
  finish(): Written;
}

/**
 * Opens a folder, which is made if it does not exist. Throws a `ServiceError` (`cannot_start`) for
 * one with files that no run of this program has put there, links and FIFOs among them. A run that
 * was killed leaves a folder that the next one completes.
 */
export function openPublishedFolder(folder: string): PublishedFolder {
  const manifest = join(folder, MANIFEST);
  const there = entriesIn(folder);
  const refuse = (path: string, why: string) => {
    const words = `it has ${path}, which ${why}; name a folder of its own`;
    throw new ServiceError('cannot_start', `Cannot publish to ${folder}: ${words}`);
  };
  for (const [path, entry] of there) if (!entry.isFile()) refuse(path, 'is not a regular file');
  // A last line without its end was cut off, before its file was written.
  const lines = there.has(MANIFEST) ? readFileSync(manifest, 'utf8').split('\n').slice(0, -1) : [];
  const own = new Set([MANIFEST, ...lines]);
  const before = own.intersection(there);
  const halves = [...there.keys()].filter((path) => !own.has(path));
  for (const path of halves)
    if (!path.endsWith(PARTIAL) || !own.has(path.slice(0, -PARTIAL.length)))
      refuse(path, 'publish did not write');
  for (const path of halves) unlinkSync(join(folder, path));
  const written: Written = { files: 0, bytes: 0, changed: 0, removed: halves.length };
  // What is lost in a power cut is written again by the next run, which compares the content.
  const replace = (path: string, content: string | Buffer) =>
    replaceFile(path, content, { unfinished: path + PARTIAL });
  const list = (paths: ReadonlySet<string>) =>
    replace(manifest, `${[...paths].sort().join('\n')}\n`);
  makeFolder(folder);
  list(own); // a new file: whatever shares the old one stays as it is, and no line is half a line
  const now = new Set([MANIFEST]);
  return {
    write(path, content) {
      if (now.has(path)) throw new Error(`Two responses would be in ${path}`);
      now.add(path);
      const bytes = Buffer.from(content);
      written.files += 1;
      written.bytes += bytes.length;
      const target = join(folder, path);
      if (before.has(path) && readFileSync(target).equals(bytes)) return;
      makeFolder(dirname(target));
      if (!own.has(path)) appendFileSync(manifest, `${path}\n`);
      replace(target, bytes);
      written.changed += 1;
    },
    finish() {
      for (const path of before.difference(now)) {
        unlinkSync(join(folder, path));
        removeEmptyFolders(folder, dirname(path));
        written.removed += 1;
      }
      list(now);
      return written;
    },
  };
}

/** By their paths within the folder; a link is one of its files, wherever it leads. */
function entriesIn(folder: string): Map<string, Dirent> {
  if (!existsSync(folder)) return new Map();
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => [relative(folder, join(entry.parentPath, entry.name)), entry] as const);
  return new Map(entries.filter(([path]) => !OF_OTHERS.includes(path.split('/')[0] ?? '')));
}

/** Removes a folder and those above it, up to the first that has something in it. */
function removeEmptyFolders(folder: string, path: string): void {
  if (path === '.' || readdirSync(join(folder, path)).length > 0) return;
  rmdirSync(join(folder, path));
  removeEmptyFolders(folder, dirname(path));
}
