import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import * as v from 'valibot';
import { messageOf, ServiceError } from '../basics/domain.ts';
import { tryParse } from '../basics/json.ts';

/** What says which files of the folder are ours. */
const MANIFEST = 'published.json';
/** What a repository or its pages keep in the folder of a site. */
const OF_OTHERS = ['.git', 'CNAME'];
const PARTIAL = '.partial';

const manifestSchema = v.object({
  /** False while files are being written: then any of the names that we use may be ours. */
  complete: v.boolean(),
  files: v.array(v.string()),
});

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
  const { complete, files: own } = readManifest(folder);
  const there = existsSync(folder) ? filesIn(folder) : [];
  const isOurs = new Set([...own, MANIFEST]);
  const foreign = there.find((path) => !isOurs.has(path) && !(complete === false && isKind(path)));
  if (foreign !== undefined)
    throw new ServiceError(
      'cannot_start',
      `Cannot publish to ${folder}: it has ${foreign}, which publish did not write; name a folder of its own`,
    );
  const write = (path: string, content: string | Buffer) => {
    const target = join(folder, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target + PARTIAL, content);
    renameSync(target + PARTIAL, target);
  };
  mkdirSync(folder, { recursive: true });
  write(MANIFEST, JSON.stringify({ complete: false, files: own }));
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
      if (before.has(path) && readFileSync(join(folder, path)).equals(bytes)) return;
      written.changed += 1;
      write(path, bytes);
    },
    finish() {
      for (const path of there)
        if (!now.has(path) && path !== MANIFEST) {
          rmSync(join(folder, path));
          written.removed += 1;
        }
      removeEmptyFolders(folder);
      write(MANIFEST, `${JSON.stringify({ complete: true, files: [...now].sort() }, null, 1)}\n`);
      return written;
    },
  };
}

/** A folder without a manifest has none of our files. */
function readManifest(folder: string): v.InferOutput<typeof manifestSchema> {
  const path = join(folder, MANIFEST);
  if (!existsSync(path)) return { complete: true, files: [] };
  const { success, output } = v.safeParse(manifestSchema, tryParse(readFileSync(path, 'utf8')));
  if (success) return output;
  throw new ServiceError(
    'cannot_start',
    `Cannot publish to ${folder}: cannot read ${path}; name a new folder`,
  );
}

/** Whether a run that was killed may have left a file of this name. */
function isKind(path: string): boolean {
  const name = path.endsWith(PARTIAL) ? path.slice(0, -PARTIAL.length) : path;
  return /^data\/|^(app\.(js|css)|index\.html|favicon\.svg|preview\.(svg|png)|published\.json|\.nojekyll)$/.test(
    name,
  );
}

/** Relative to the folder; a link is one of its files, wherever it leads. */
function filesIn(folder: string): string[] {
  try {
    const all = readdirSync(folder, { recursive: true, withFileTypes: true });
    return all
      .filter((entry) => !entry.isDirectory())
      .map(({ parentPath, name }) => join(parentPath, name).slice(join(folder, '/').length))
      .filter((path) => !OF_OTHERS.includes(path.split('/')[0] ?? ''));
  } catch (error) {
    throw new ServiceError('cannot_start', `Cannot publish to ${folder}: ${messageOf(error)}`);
  }
}

function removeEmptyFolders(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (OF_OTHERS.includes(name) || !lstatSync(path).isDirectory()) continue;
    removeEmptyFolders(path);
    if (readdirSync(path).length === 0) rmSync(path, { recursive: true });
  }
}
