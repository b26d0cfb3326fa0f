// Makes dist/trading-simulation of dist/server.js: one executable with Node inside it, for machines without Node.
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Where Node looks for a program inside itself, and the mark in its binary that says there is one; Node's documentation. */
const RESOURCE = 'NODE_SEA_BLOB';
const SENTINEL = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
const POSTJECT = join(import.meta.dirname, 'node_modules/postject/dist/cli.js');

/**
 * A child runs the text that it is given instead of the program (src/own-node.ts), in the first line, because a child then
 * starts as fast as one of Node's own. Like `node --eval`, it runs the text as a script, with `require` as a global. On the
 * line of the program's first comment, so that no line of the source map moves; and the file keeps its strict mode.
 */
const RUN_TEXT = `'use strict';if(process.argv[2]==='--run-text'){globalThis.require=require;\
require('node:vm').runInThisContext(process.argv[3],{filename:'[eval]'});return}`;

/** The licence of the Node that runs this script, as it is distributed beside its executable. */
function nodeLicence() {
  const folder = join(dirname(process.execPath), '..');
  const path = ['LICENSE', 'share/doc/node/LICENSE'].map((name) => join(folder, name)).find((file) => existsSync(file));
  if (path === undefined) throw new Error(`Cannot build: ${folder} has no LICENSE of Node, which must go with the executable`);
  return readFileSync(path, 'utf8');
}

/** The configuration of the executable: Node's documentation of single executable applications describes each key. */
function configuration(folder, assets) {
  return {
    main: join(folder, 'main.cjs'),
    output: join(folder, 'blob'),
    disableExperimentalSEAWarning: true,
    useCodeCache: true,
    execArgv: ['--disable-sigusr1'], // the inspector stays closed even before the first line
    execArgvExtension: 'cli', // how children get their flags
    assets,
  };
}

/** What it prints is part of the error if it fails; otherwise postject's warnings about Node's notes only worry. */
function runNode(...args) {
  execFileSync(process.execPath, args, { stdio: 'pipe' });
}

/** Writes an executable of a built program, `server.js` and `server.js.map` in a folder, made of the Node that runs this. */
export function buildExecutable({ from, to }) {
  const work = mkdtempSync(`${to}-`) // beside the result, which is renamed;
  try {
    const program = join(from, 'server.js');
    writeFileSync(join(work, 'main.cjs'), RUN_TEXT + readFileSync(program, 'utf8'));
    writeFileSync(join(work, 'NODE-LICENSE'), nodeLicence());
    const assets = { 'server.js': program, 'server.js.map': `${program}.map`, 'NODE-LICENSE': join(work, 'NODE-LICENSE') };
    const settings = configuration(work, assets);
    writeFileSync(join(work, 'sea.json'), JSON.stringify(settings));
    runNode('--experimental-sea-config', join(work, 'sea.json'));
    const unfinished = join(work, 'executable');
    copyFileSync(process.execPath, unfinished);
    chmodSync(unfinished, 0o755);
    runNode(POSTJECT, unfinished, RESOURCE, settings.output, '--sentinel-fuse', SENTINEL);
    renameSync(unfinished, to); // a process that runs the file of before keeps it
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function buildHere() {
  if (process.platform !== 'linux') {
    console.error('Cannot build: the executable is made on Linux; elsewhere run dist/server.js with Node.');
    process.exit(1);
  }
  const dist = join(import.meta.dirname, 'dist');
  buildExecutable({ from: dist, to: join(dist, 'trading-simulation') });
}

if (import.meta.main) buildHere();
