// Builds the one file that is the whole program: dist/server.js.
import { readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const bundled = {
  absWorkingDir: import.meta.dirname,
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'cjs', // so that an old Node reaches the check below before anything that it does not know
  minify: true,
  keepNames: true, // functions still tell their names in the log's stack traces
  logLevel: 'warning',
};

/** The program of the child processes, as text. */
export async function buildAgent() {
  const { outputFiles } = await build({ ...bundled, entryPoints: ['src/agent/agent.ts'], write: false });
  return outputFiles[0].text;
}

/** What browsers run: the script and the style sheet of the pages, with the plot library, and the files beside them. */
const pageBundle = {
  absWorkingDir: import.meta.dirname,
  bundle: true,
  platform: 'browser',
  target: ['chrome120', 'firefox121', 'safari17.2'],
  format: 'iife',
  minify: true,
  charset: 'utf8',
  logLevel: 'warning',
  entryPoints: ['src/pages/app.ts', 'src/pages/app.css'],
  outdir: 'dist',
  write: false,
};

/** Text inside the program takes a third or half of its room this way; it is unpacked with `gunzipSync` where it is used. */
function packed(content) {
  return gzipSync(content, { level: 9 }).toString('base64');
}

/** The files of the pages by name: compressed with gzip, as base64. */
export async function buildPages() {
  const { outputFiles } = await build(pageBundle);
  const built = outputFiles.map(({ path, contents }) => [basename(path), contents]);
  const plain = ['index.html', 'favicon.svg'].map((name) => [
    name,
    readFileSync(`${import.meta.dirname}/src/pages/${name}`),
  ]);
  return Object.fromEntries([...plain, ...built].map(([name, bytes]) => [name, packed(bytes)]));
}

/** Packs the interface description, which is half of it repetition. */
const packedDescription = {
  name: 'packed-description',
  setup({ onLoad }) {
    onLoad({ filter: /openapi\.json$/ }, ({ path }) => ({
      contents: `import { gunzipSync } from 'node:zlib';
        export default JSON.parse(gunzipSync(Buffer.from('${packed(JSON.stringify(JSON.parse(readFileSync(path, 'utf8'))))}', 'base64')));`,
      loader: 'js',
    }));
  },
};

/** The interface description, from the routes and their schemas. */
async function writeInterfaceDescription(path) {
  const { describeApi } = await import('./src/http/openapi.ts');
  const { routes } = await import('./src/http/routes.ts');
  const description = `${JSON.stringify(describeApi(routes), null, 2)}\n`;
  if (readFileSync(path, 'utf8') !== description) writeFileSync(path, description);
}

/** Goes into the program as text too, where an old Node must be able to read it. */
function isSupported(version) {
  var parts = version.split('.').map(Number);
  return parts[0] >= 26 || (parts[0] === 24 && parts[1] >= 15);
}

const versionCheck = `
${isSupported}
if (!isSupported(process.versions.node)) {
  console.error('Cannot start: this program needs Node.js 24.15 or newer in the 24 line, or 26 and newer; this is ' + process.version);
  process.exit(1);
}`;

if (!isSupported(process.versions.node)) {
  console.error(`Cannot build: Node.js 24.15 or newer in the 24 line, or 26 and newer, is needed; this is ${process.version}.
On Linux and macOS "npm ci" brings one along, which npm's scripts then use; elsewhere install one yourself.`);
  process.exit(1);
}

if (import.meta.main) {
  await writeInterfaceDescription('src/http/openapi.json');
  await build({
    ...bundled,
    entryPoints: ['src/main.ts'],
    outfile: 'dist/server.js',
    banner: { js: versionCheck.trim() },
    define: { AGENT_PROGRAM: JSON.stringify(packed(await buildAgent())), PAGES: JSON.stringify(await buildPages()) },
    plugins: [packedDescription],
  });
  // The file is CommonJS although this repository's package is not; where it stands alone it needs nothing beside it.
  writeFileSync('dist/package.json', '{ "type": "commonjs" }\n');
}
