import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { readSettings } from '../../src/core/settings/settings.ts';
import type { Publication } from '../../src/features/publish/site.ts';
import { publishSite } from '../../src/features/publish/publish.ts';
import { serveFolder } from './file-server.ts';
import { routes } from '../../src/routes.ts';
import { builtPages } from './service.ts';
import { fillWithTrackRecords } from './track-records.ts';
import { temporaryFolder } from './folder.ts';

export const PUBLISHED_MODELS = ['alpha', 'alpha#2', 'BETA/5: x%', 'gamma'];
export const PUBLISHED_DAYS = 24;

/** All that there is, with its conversations. */
export const EVERYTHING: Publication = {
  title: 'Which <model> trades “better”?',
  jobId: undefined,
  models: [],
  startDate: undefined,
  endDate: undefined,
  withConversations: true,
  url: '',
  chromium: undefined,
};

/** The published folder of forged track records, and its URL behind a plain file server. */
export async function publishedFrom(
  t: TestContext,
  {
    own = {},
    models = PUBLISHED_MODELS,
    days = PUBLISHED_DAYS,
    datesPerJob = 12,
    failures = 0.05,
  }: {
    own?: Partial<Publication>;
    models?: string[];
    days?: number;
    datesPerJob?: number;
    failures?: number;
  } = {},
) {
  const path = join(temporaryFolder(), 'jobs.db');
  fillWithTrackRecords(path, { models, days, datesPerJob, failures });
  const folder = join(temporaryFolder(), 'site');
  const from = { path, folder, settings: readSettings({}), pages: await builtPages(), routes };
  const watched = { signal: new AbortController().signal, onProgress: () => {} };
  const again = (more: Partial<Publication> = {}, by = watched) =>
    publishSite(from, { ...EVERYTHING, ...own, ...more }, by);
  const written = await again();
  return { path, folder, written, again, url: await serveFolder(t, folder) };
}
