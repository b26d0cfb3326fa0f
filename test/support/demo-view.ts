import type { TestContext } from 'node:test';
import { installProgram, startProgram } from './program.ts';

const PACKAGE = new URL('../../docs/demo-package.db', import.meta.url).pathname;

/** The URL of the built program that serves docs/demo-package.db, until the test ends; with settings of its own. */
export async function startDemoView(t: TestContext, own = {}): Promise<string> {
  const env = { API_PORT: '0', ...own };
  const view = startProgram(['view', PACKAGE], { cwd: installProgram(), env });
  t.after(() => view.process.kill('SIGKILL'));
  const [, port] = await view.waitFor(/"message":"listening".*?"port":(\d+)/);
  return `http://127.0.0.1:${port}`;
}
