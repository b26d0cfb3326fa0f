// Builds the one file that is the whole program, dist/server.js, and its source map, which only stack traces need.
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { build } from 'esbuild';

const bundled = {
  absWorkingDir: import.meta.dirname,
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'cjs', // so that an old Node reaches the check below before any syntax that it does not support
  minify: true,
  // Strict mode once for the whole file, as in modules, instead of once per module.
  banner: { js: `'use strict';` },
  tsconfigRaw: { compilerOptions: { strict: false, verbatimModuleSyntax: true } },
  logLevel: 'warning',
  metafile: true, // names the packages whose licences must be included
};

/** The program of the child processes: its text, and the packages inside it. */
async function bundleAgent() {
  const { outputFiles, metafile } = await build({
    ...bundled,
    entryPoints: ['src/core/agent/agent.ts'],
    write: false,
  });
  return { text: outputFiles[0].text, packages: packagesIn(metafile) };
}

/**
 * The program of the child processes, as text.
 * @returns {Promise<string>}
 */
export async function buildAgent() {
  return (await bundleAgent()).text;
}

/** What browsers run: the script and the style sheet of the pages, with the plot library, and the files beside them. */
const pageBundle = {
  absWorkingDir: import.meta.dirname,
  bundle: true,
  platform: 'browser',
  // The latest version but one of each, and the older Firefox of Debian; test/tidy.test.ts knows what they do not have.
  target: ['chrome155', 'edge155', 'firefox153', 'safari26.2'],
  format: 'iife',
  minify: true,
  charset: 'utf8',
  logLevel: 'warning',
  metafile: true,
  entryPoints: ['src/features/pages/browser/app.ts', 'src/features/pages/browser/app.css'],
  outdir: 'dist',
  write: false,
};

/** Text inside the program, in a third of its size or less; `brotliDecompressSync` unpacks it where it is used. */
function packed(content) {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 };
  return brotliCompressSync(content, { params }).toString('base64');
}

/** The files of the pages by name, compressed with Brotli, as base64; and the packages inside them. */
async function bundlePages() {
  const { outputFiles, metafile } = await build(pageBundle);
  const packages = packagesIn(metafile);
  // The style sheet and the script are served separately, so each names the libraries it contains.
  const comment = licenceComment(packages.map(packageLicence));
  const built = outputFiles.map(({ path, text }) => [basename(path), comment + text]);
  const plain = ['index.html', 'favicon.svg'].map((name) => [
    name,
    readFileSync(`${import.meta.dirname}/src/features/pages/browser/${name}`),
  ]);
  return {
    files: Object.fromEntries([...plain, ...built].map(([name, bytes]) => [name, packed(bytes)])),
    packages,
  };
}

/**
 * The files of the pages by name: compressed with Brotli, as base64.
 * @returns {Promise<Record<string, string>>}
 */
export async function buildPages() {
  return (await bundlePages()).files;
}

/** The folders of the packages of which any part is in a bundle. */
function packagesIn({ outputs }) {
  const inputs = Object.values(outputs).flatMap((output) => Object.entries(output.inputs));
  const paths = inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([path]) => path);
  return [
    ...new Set(paths.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? [])),
  ];
}

/** A package's name, and its licence in its authors' own words. A package without one must not be redistributed. */
function packageLicence(folder) {
  const { name, version } = JSON.parse(
    readFileSync(`${import.meta.dirname}/${folder}/package.json`, 'utf8'),
  );
  return `${name} ${version}, included here under this licence:\n\n${licenceIn(folder)}`;
}

function licenceIn(folder) {
  const path = `${import.meta.dirname}/${folder}`;
  const file = readdirSync(path).find((name) => /^licen[cs]e(\.|$)/i.test(name));
  if (file === undefined) throw new Error(`Cannot build: ${folder} has no licence file`);
  return readFileSync(`${path}/${file}`, 'utf8').trim();
}

function licenceComment(texts) {
  return texts.length === 0 ? '' : `/*!\n${texts.join(`\n\n${'-'.repeat(78)}\n\n`)}\n*/\n`;
}

/** Code for a text that is packed in the program. */
function unpacked(text) {
  return `process.getBuiltinModule('node:zlib').brotliDecompressSync(Buffer.from('${packed(text)}', 'base64')).toString()`;
}

/**
 * Files that the build runs and replaces by what they make, because they need development dependencies. Without a build, as in the
 * tests, they run as they are.
 */
const madeAtBuild = {
  name: 'made-at-build',
  setup({ onLoad }) {
    const replace = (filter, code) =>
      onLoad({ filter }, async ({ path }) => ({ contents: await code(await import(path)) }));
    replace(
      /src[\\/]core[\\/]trading[\\/]tool-parameters\.ts$/,
      ({ toolParameters }) => `export const toolParameters = ${JSON.stringify(toolParameters)};`,
    );
    replace(
      /src[\\/]features[\\/]openapi[\\/]interface-description\.ts$/,
      async ({ interfaceDescription, listedTools }) => {
        const { routes, tools } = await import('./src/routes.ts');
        const description = await interfaceDescription(() => routes);
        return `export async function interfaceDescription() { return ${unpacked(description)}; }
          export async function listedTools() { return ${unpacked(await listedTools(tools))}; }`;
      },
    );
  },
};

/**
 * Each of Node's modules once, and of it only the names that are used. esbuild alone copies the whole module for each file that
 * imports it, 25 times for `node:fs`, which takes a twentieth of a start.
 */
const nodeModulesOnce = {
  name: 'node-modules-once',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path }) => ({
      path,
      namespace: 'node',
      sideEffects: false,
    }));
    onLoad({ filter: /^/, namespace: 'node' }, ({ path }) => ({
      contents: path === ASSERT ? assertLate : reexported(path),
    }));
  },
};

function reexported(path) {
  const names = Object.keys(process.getBuiltinModule(path)).filter((name) => name !== 'default');
  const pick = (name) => `export const ${name} = /* @__PURE__ */ (() => own.${name})();`;
  return `const own = process.getBuiltinModule('${path}');\nexport default own;\n${names.map(pick).join('\n')}`;
}

const ASSERT = 'node:assert/strict';

/** `node:assert/strict` loads much of Node, so it is asked only once an assertion has failed. */
const assertLate = `const fail = () => process.getBuiltinModule('${ASSERT}');
export default Object.assign((value, message) => void (value || fail()(value, message)), {
  equal: (one, other, message) => void (Object.is(one, other) || fail().equal(one, other, message)),
  fail: (message) => fail().fail(message),
});`;

/** SQL without its indentation, which minifying leaves in. Other code stays where it is, for stack traces. */
const flatSql = {
  name: 'flat-sql',
  setup({ onLoad }) {
    const flat = (text) => text.replaceAll(/\n +/g, '\n');
    onLoad(
      {
        filter:
          /src[\\/](core[\\/]database[\\/].*|features[\\/].*queries|features[\\/]backup[\\/]backup)\.ts$/,
      },
      ({ path }) => ({
        contents: readFileSync(path, 'utf8').replaceAll(/`[^`]*`/g, flat),
        loader: 'ts',
      }),
    );
  },
};

/** Included in the program as text too, in syntax that an old Node can parse. */
function isSupported(version) {
  var parts = version.split('.').map(Number);
  return parts[0] >= 26 || (parts[0] === 24 && parts[1] >= 15);
}

const versionCheck = `
${isSupported}
if (!isSupported(process.versions.node)) {
  console.error('Cannot start: this program needs Node.js 24.15 or newer in the 24 line, or 26 and newer; this is ' + process.version +
    '. Install one from https://nodejs.org/en/download; in a clone, "npm ci" brings one along for npx and npm run.');
  process.exit(1);
}`;

if (!isSupported(process.versions.node)) {
  console.error(`Cannot build: Node.js 24.15 or newer in the 24 line, or 26 and newer, is needed; this is ${process.version}.
On Linux and macOS "npm ci" brings one along, which npm's scripts then use; elsewhere install one yourself.`);
  process.exit(1);
}

/** As long as the identity that replaces it, so that no column in the source map changes. */
const ID_PLACEHOLDER = 'x'.repeat(64);

/**
 * Writes the program, which contains the hash of its code, and its source map.
 * The comment at the top, which `--licenses` prints, is prepended after the map was made, so its lines are added there.
 */
function writeProgram(code, sourceMap, comment) {
  const id = createHash('sha256').update(code).digest('hex');
  const map = JSON.parse(sourceMap);
  map.mappings = ';'.repeat(comment.split('\n').length - 1) + map.mappings;
  mkdirSync('dist', { recursive: true });
  writeFileSync('dist/server.js', comment + code.replaceAll(ID_PLACEHOLDER, id));
  writeFileSync('dist/server.js.map', JSON.stringify(map));
}

/**
 * What `npx trading-simulation-service` runs. npm links the Node that comes with the package into `.bin`, where npx finds it first; npm 9
 * and 10 lose that link, so on a Node that is too old this looks for the file itself, and hands over to it. In syntax for an old Node.
 */
function runBin() {
  var node = isSupported(process.versions.node) ? null : pinnedNode();
  if (node === null) return require('./server.js');
  var args = ['--disable-sigusr1', `${__dirname}/server.js`, ...process.argv.slice(2)];
  var child = require('node:child_process').spawn(node, args, { stdio: 'inherit' });
  process.on('SIGINT', () => {}); // Ctrl-C reaches both
  process.on('SIGTERM', () => child.kill());
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

/** The file of an optional dependency; null where none was installed. */
function pinnedNode() {
  for (const name of Object.keys(require('../package.json').optionalDependencies))
    try {
      return require.resolve(`${name}/bin/node`);
    } catch {} // of another platform
  return null;
}

const BIN = `#!/usr/bin/env node\n${isSupported}\n${pinnedNode}\n${runBin}\nrunBin();\n`;

async function buildProgram() {
  const [agent, pages] = await Promise.all([bundleAgent(), bundlePages()]);
  const { outputFiles, metafile } = await build({
    ...bundled,
    entryPoints: ['src/main.ts'],
    outfile: 'dist/server.js',
    write: false,
    banner: { js: bundled.banner.js + versionCheck },
    sourcemap: 'linked', // for `node --enable-source-maps`
    sourcesContent: false,
    define: {
      PROGRAM_ID: JSON.stringify(ID_PLACEHOLDER),
      AGENT_PROGRAM: JSON.stringify(packed(agent.text)),
      PAGES: JSON.stringify(pages.files),
      'import.meta.filename': '__filename', // the output is CommonJS
    },
    plugins: [madeAtBuild, nodeModulesOnce, flatSql],
  });
  const packages = new Set([...packagesIn(metafile), ...agent.packages, ...pages.packages]);
  const licences = [
    `Trading Simulation Service\n\n${licenceIn('.')}`,
    ...[...packages].sort().map(packageLicence),
  ];
  const [sourceMap, code] = outputFiles;
  writeProgram(code.text, sourceMap.text, licenceComment(licences));
  // The file is CommonJS although this repository's package is not; copied elsewhere, it needs no other file.
  writeFileSync('dist/package.json', '{ "type": "commonjs" }\n');
  writeFileSync('dist/bin.js', BIN, { mode: 0o755 });
  // Beside the program, for folders without configs/.
  cpSync('configs', 'dist/configs', { recursive: true });
}

// Without a top-level await the tests can load this file synchronously.
if (import.meta.main) void buildProgram();
