import assert from 'node:assert/strict';
import { type Context, isReady, bodyPieces, outsideService } from '#api/handler.ts';
import type { Settings } from '#settings/settings.ts';
import { modeOfJobs } from '#database/job-queries.ts';
import { readRiskFreeRate } from '#database/state.ts';
import { fileAddress, openMoment } from '#database/snapshot.ts';
import { toHttpError } from '#http/errors.ts';
import { validateQuery } from '#http/request.ts';
import type { Route } from '#api/route.ts';
import { createRouter } from '#http/router.ts';

/** Responds to a GET as the service does: the text of the body. */
export type Respond = (path: string, query?: Readonly<Record<string, string>>) => string;

interface RespondOptions {
  /** What the file is called where people read it. */
  name: string;
  settings: Settings;
  routes: readonly Route[];
}

/**
 * Opens a database to respond from it, without a server, from the state of one moment, whether or
 * not a service runs on it.
 */
export function openResponder(path: string, { name, settings, routes }: RespondOptions) {
  const moment = openMoment(fileAddress(path));
  try {
    const mode = modeOfJobs(moment);
    const served = {
      ...settings,
      preserveDevData: null,
      deploymentMode: mode,
      riskFreeRate: readRiskFreeRate(moment) ?? settings.riskFreeRate,
    };
    const respond = createResponder(routes, {
      ...outsideService,
      database: moment,
      settings: served,
      viewedFile: name,
      isFixed: true,
    });
    return { respond, mode, close: () => moment.close() };
  } catch (error) {
    moment.close();
    throw error;
  }
}

/**
 * Responses without a server. Of one that is refused there is only its `detail`: what the pages
 * show, or find missing.
 */
function createResponder(routes: readonly Route[], context: Context): Respond {
  const find = createRouter(routes);
  return (path, given = {}) => {
    const match = find('GET', path);
    assert(match !== null && 'params' in match, `${path} is a path that can be read`);
    const { route, params } = match;
    try {
      const query = validateQuery(route.query, String(new URLSearchParams(given)));
      const format = given['format'] === 'csv' ? 'csv' : 'json';
      const body = route.handle(context, {
        params,
        query,
        body: null,
        headers: {},
        format,
        token: null,
      });
      assert(isReady(body), 'it is made in one go');
      return [...bodyPieces(body).pieces].join('');
    } catch (error) {
      const refusal = toHttpError(error);
      if (refusal === null || refusal.status >= 500) throw error;
      return JSON.stringify({ detail: refusal.message });
    }
  };
}

/** Page size of `GET /jobs` and `GET /decisions`. */
const MAX_PAGE_SIZE = '200';

/** The pages of a list, from its start to its end. */
export function* readPages<Page extends { next_before: string | null }>(
  respond: Respond,
  path: string,
  choice: Record<string, string> = {},
): Generator<Page> {
  for (let before: string | null = ''; before !== null; ) {
    const query = { ...choice, ...(before === '' ? {} : { before }), limit: MAX_PAGE_SIZE };
    const page: Page = JSON.parse(respond(path, query));
    yield page;
    before = page.next_before;
  }
}
