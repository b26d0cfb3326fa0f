// Builds the one file that is the whole program: dist/server.js.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { build } from 'esbuild';

// First the interface description, from the routes and their schemas; it is bundled as it is.
const { describeApi } = await import('./src/http/openapi.ts');
const { routes } = await import('./src/http/routes.ts');
const description = `${JSON.stringify(describeApi(routes), null, 2)}\n`;
const path = 'src/http/openapi.json';
if (!existsSync(path) || readFileSync(path, 'utf8') !== description) writeFileSync(path, description);

// CommonJS, so that an old Node reaches the check below before anything that it does not know.
const versionCheck = `
var nodeVersion = process.versions.node.split('.').map(Number);
if (!(nodeVersion[0] >= 26 || (nodeVersion[0] === 24 && nodeVersion[1] >= 15))) {
  console.error('Cannot start: this program needs Node.js 24.15 or newer in the 24 line, or 26 and newer; this is ' + process.version);
  process.exit(1);
}`;

await build({
  entryPoints: ['src/main.ts'],
  outfile: 'dist/server.js',
  bundle: true,
  minifyWhitespace: true, // names stay, for stack traces in the log
  minifySyntax: true,
  platform: 'node',
  target: 'node24',
  format: 'cjs',
  banner: { js: versionCheck.trim() },
  logLevel: 'warning',
});

// The file is CommonJS although this repository's package is not; where it stands alone it needs nothing beside it.
writeFileSync('dist/package.json', '{ "type": "commonjs" }\n');
