import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { startTestService, type TestService } from './service.ts';
import { fillWithTrackRecords, type TrackRecords } from './track-records.ts';
import { temporaryFolder } from './folder.ts';

/** As long as a signature may be, in four scripts; the first has no place for a line break. */
export const LONG_NAMES = ['claude_gpt_gemini_', 'نموذج التداول ', 'व्यापार मॉडल ', '交易模型'].map(
  (part) => part.repeat(200).slice(0, 199).trim().padEnd(200, '1'),
);
export const longNamed: TrackRecords = {
  models: LONG_NAMES,
  days: 24,
  datesPerJob: 12,
  failures: 0.05,
};

/** A service with pages on a database of track records, or on an empty one. */
export function startOnRecords(
  t: TestContext,
  records: TrackRecords | null,
  own: { apiToken?: string } = {},
): Promise<TestService> {
  const folder = temporaryFolder();
  if (records !== null) fillWithTrackRecords(join(folder, 'jobs.db'), records);
  const settings = { preserveDevData: true, ...own };
  return startTestService(t, { pages: true, settings, folder, isForged: true });
}
