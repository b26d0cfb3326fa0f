// Builds the one file that is the whole program: dist/server.js.
import { readFileSync, writeFileSync } from 'node:fs';
import { build } from 'esbuild';

const bundled = {
  absWorkingDir: import.meta.dirname,
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'cjs', // so that an old Node reaches the check below before anything that it does not know
  minifyWhitespace: true, // names stay, for stack traces in the log
  minifySyntax: true,
  logLevel: 'warning',
};

/** The program of the child processes, as text. */
export async function buildAgent() {
  const { outputFiles } = await build({ ...bundled, entryPoints: ['src/agent/agent.ts'], write: false });
  return outputFiles[0].text;
}

/** The interface description, from the routes and their schemas. */
async function writeInterfaceDescription(path) {
  const { describeApi } = await import('./src/http/openapi.ts');
  const { routes } = await import('./src/http/routes.ts');
  const description = `${JSON.stringify(describeApi(routes), null, 2)}\n`;
  if (readFileSync(path, 'utf8') !== description) writeFileSync(path, description);
}

const versionCheck = `
var nodeVersion = process.versions.node.split('.').map(Number);
if (!(nodeVersion[0] >= 26 || (nodeVersion[0] === 24 && nodeVersion[1] >= 15))) {
  console.error('Cannot start: this program needs Node.js 24.15 or newer in the 24 line, or 26 and newer; this is ' + process.version);
  process.exit(1);
}`;

if (import.meta.main) {
  await writeInterfaceDescription('src/http/openapi.json');
  await build({
    ...bundled,
    entryPoints: ['src/main.ts'],
    outfile: 'dist/server.js',
    banner: { js: versionCheck.trim() },
    define: { AGENT_PROGRAM: JSON.stringify(await buildAgent()) },
  });
  // The file is CommonJS although this repository's package is not; where it stands alone it needs nothing beside it.
  writeFileSync('dist/package.json', '{ "type": "commonjs" }\n');
}
