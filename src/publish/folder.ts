import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { ServiceError } from '../basics/domain.ts';

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
 * one with files that no run of this program has put there. A run that was killed leaves a folder
 * that the next one completes.
 */
export function openPublishedFolder(folder: string): PublishedFolder {
  const manifest = join(folder, MANIFEST);
  const own = new Set(existsSync(manifest) ? readFileSync(manifest, 'utf8').split('\n') : []);
  const there = existsSync(folder) ? filesIn(folder).filter((path) => path !== MANIFEST) : [];
  const foreign = there.find((path) => !own.has(path) && !own.has(path.slice(0, -PARTIAL.length)));
  if (foreign !== undefined)
    throw new ServiceError(
      'cannot_start',
      `Cannot publish to ${folder}: it has ${foreign}, which publish did not write; name a folder of its own`,
    );
  const replace = (path: string, content: string | Buffer) => {
    writeFileSync(path + PARTIAL, content);
    renameSync(path + PARTIAL, path);
  };
  const written: Written = { files: 0, bytes: 0, changed: 0, removed: 0 };
  const now = new Set<string>();
  const before = new Set(there);
  return {
    write(path, content) {
      if (now.has(path)) throw new Error(`Two responses would be in ${path}`);
      now.add(path);
      const bytes = Buffer.from(content);
      written.files += 1;
      written.bytes += bytes.length;
      const target = join(folder, path);
      if (before.has(path) && readFileSync(target).equals(bytes)) return;
      mkdirSync(dirname(target), { recursive: true });
      if (!own.has(path)) appendFileSync(manifest, `${path}\n`);
      replace(target, bytes);
      written.changed += 1;
    },
    finish() {
      for (const path of there.filter((path) => !now.has(path))) {
        rmSync(join(folder, path));
        written.removed += 1;
      }
      removeEmptyFolders(folder);
      replace(manifest, `${[...now].sort().join('\n')}\n`);
      return written;
    },
  };
}

/** Relative to the folder; a link is one of its files, wherever it leads. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
    .filter((path) => !OF_OTHERS.includes(path.split('/')[0] ?? ''));
}

function removeEmptyFolders(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (!entry.isDirectory() || OF_OTHERS.includes(entry.name)) continue;
    const path = join(folder, entry.name);
    removeEmptyFolders(path);
    if (readdirSync(path).length === 0) rmdirSync(path);
  }
}
