// Makes dist/trading-simulation-service from dist/server.js: one executable with Node inside it, for machines without Node.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/** Where Node looks for a program inside itself, and the mark in its binary that says there is one; see Node's documentation. */
const RESOURCE = 'NODE_SEA_BLOB';
const SENTINEL = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
const POSTJECT = join(import.meta.dirname, 'node_modules/postject/dist/cli.js');

/**
 * Comes before the program: a child of the executable runs the text that it is given (src/core/process/own-node.ts), and never reaches the
 * program, so it starts as fast as a child of Node. Like `node --eval`, it runs the text as a script, with `require` as a global.
 * It adds no line, so that the source map still fits, and begins with 'use strict', so that the program stays in strict mode.
 */
const RUN_TEXT = `'use strict';if(process.argv[2]==='--run-text'){globalThis.require=require;\
require('node:vm').runInThisContext(process.argv[3],{filename:'[eval]'});return}`;

/** What `--licenses` prints: the comment at the top of the program, and the licence that comes with the Node that runs this. */
function licences(program) {
  const folder = join(dirname(process.execPath), '..');
  const path = ['LICENSE', 'share/doc/node/LICENSE']
    .map((name) => join(folder, name))
    .find((file) => existsSync(file));
  if (path === undefined)
    throw new Error(
      `Cannot build: ${folder} has no LICENSE of Node, which must go with the executable`,
    );
  const [, texts] = /^\/\*!\n(.*?)\n\*\/\n/s.exec(program);
  return `${texts}\n\n${'-'.repeat(78)}\n\nNode.js ${process.version}, included here under this licence:\n\n${readFileSync(path, 'utf8')}`;
}

/** The configuration of the executable: Node's documentation of single executable applications describes each key. */
const CONFIGURATION = {
  main: 'server.js',
  output: 'blob',
  disableExperimentalSEAWarning: true,
  useCodeCache: true,
  execArgv: ['--disable-sigusr1'], // the inspector stays closed even before the first line
  execArgvExtension: 'cli', // how children get their flags
  assets: { 'server.js': 'program.js', LICENCES: 'LICENCES' },
};

/** Its output is shown only if it fails: postject always warns about sections of Node's binary, and the warnings do not matter. */
function runNode(cwd, ...args) {
  execFileSync(process.execPath, args, { cwd, stdio: 'pipe' });
}

/**
 * Writes the executable of a built program (`server.js` in the folder `from`), with the Node that runs this.
 * @param {{ from: string, to: string }} paths
 */
export function buildExecutable({ from, to }) {
  const folder = mkdtempSync(`${to}-`); // beside the result, which is renamed
  const write = (name, content) => writeFileSync(join(folder, name), content);
  try {
    const program = readFileSync(join(from, 'server.js'), 'utf8');
    write('server.js', RUN_TEXT + program);
    write('program.js', program); // what its reader threads run
    write('LICENCES', licences(program));
    write('sea.json', JSON.stringify(CONFIGURATION));
    runNode(folder, '--experimental-sea-config', 'sea.json');
    copyFileSync(process.execPath, join(folder, 'node'));
    chmodSync(join(folder, 'node'), 0o755);
    runNode(folder, POSTJECT, 'node', RESOURCE, CONFIGURATION.output, '--sentinel-fuse', SENTINEL);
    renameSync(join(folder, 'node'), to); // a process that runs the former file keeps it
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function buildHere() {
  if (process.platform !== 'linux') {
    console.error(
      'Cannot build: the executable can be made only on Linux; elsewhere run dist/server.js with Node.',
    );
    process.exit(1);
  }
  const dist = join(import.meta.dirname, 'dist');
  buildExecutable({ from: dist, to: join(dist, 'trading-simulation-service') });
}

if (import.meta.main) buildHere();
