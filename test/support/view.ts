import { basename } from 'node:path';
import type { TestContext } from 'node:test';
import { readAccessTokens } from '../../src/core/http/access.ts';
import type { BuiltPages } from '../../src/features/pages/built-pages.ts';
import { silentLog } from '../../src/core/process/log.ts';
import { readSettings, type Settings } from '../../src/core/settings/settings.ts';
import { startView } from '../../src/features/view/view.ts';
import { routes } from '../../src/routes.ts';
import { type Answer, clockFrom, pagesOf, TODAY } from './service.ts';

export interface TestView {
  url: string;
  get(path: string): Promise<Answer>;
}

/** A view of a file in this process, on a free port. */
export async function startTestView(
  t: TestContext,
  path: string,
  { settings: own = {}, pages = {} }: { settings?: Partial<Settings>; pages?: BuiltPages } = {},
): Promise<TestView> {
  const settings = { ...readSettings({ API_PORT: '0' }), ...own };
  const view = await startView({
    path,
    name: basename(path),
    settings,
    log: silentLog,
    clock: clockFrom(TODAY),
    accessTokens: readAccessTokens(settings),
    routes,
    createPages: pagesOf(pages),
  });
  t.after(() => view.stop());
  const url = `http://127.0.0.1:${view.port}`;
  const get = async (request: string) => {
    const response = await fetch(url + request);
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
  return { url, get };
}
