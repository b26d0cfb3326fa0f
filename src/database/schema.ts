import { sql as jobsLedgerAndPrices } from './migrations/001-jobs-ledger-and-prices.ts';
import { sql as tokensCostsAndSplitCoverage } from './migrations/002-tokens-costs-and-split-coverage.ts';
import { sql as restartsAndEndedModelDays } from './migrations/003-restarts-and-ended-model-days.ts';
import { sql as carriedMessages } from './migrations/004-carried-messages.ts';
import { sql as idempotencyKeys } from './migrations/005-idempotency-keys.ts';
import { sql as splitRevisions } from './migrations/006-split-revisions.ts';
import { sql as sameMeaningFromSqlite337 } from './migrations/007-same-meaning-from-sqlite-3.37.ts';
import { sql as livesThatCount } from './migrations/008-lives-that-count.ts';
import { sql as orderOfCommits } from './migrations/009-order-of-commits.ts';
import { sql as runsByModel } from './migrations/010-runs-by-model.ts';
import { sql as evidence } from './migrations/011-evidence.ts';
import { sql as staleness } from './migrations/012-staleness.ts';
import { sql as entries } from './migrations/013-entries.ts';
import { sql as universes } from './migrations/014-universes.ts';
import { sql as dividends } from './migrations/015-dividends.ts';
import { sql as marketDays } from './migrations/016-market-days.ts';
import { sql as holders } from './migrations/017-holders.ts';
import { sql as decisionsAndSearch } from './migrations/018-decisions-and-search.ts';
import { sql as openings } from './migrations/019-openings.ts';
import { sql as wordingAndDigests } from './migrations/020-wording-and-digests.ts';
import { sql as comparedByMorning } from './migrations/021-compared-by-morning.ts';
import { sql as figureSettings } from './migrations/022-figure-settings.ts';
import { sql as filesByMeaning } from './migrations/023-files-by-meaning.ts';
import { sql as pricesFromTheUnit } from './migrations/024-prices-from-the-unit.ts';
import { sql as whoAnswered } from './migrations/025-who-answered.ts';
import { tables } from './tables.ts';

/**
 * The schema's history: migration N brings a database from version N to N + 1 (`user_version`).
 * Each is literal SQL in a file that imports nothing, so no later change of the program alters what
 * an old database becomes. A released migration is never edited; every change is a new one,
 * including a new word in a list of domain.ts. Columns ending in `_e4` are integers of 1/10000
 * dollar; prices in `price_data` are dollars, because other tools read and write that table.
 * Timestamps are UTC with a trailing Z.
 */
export const migrations: readonly string[] = [
  jobsLedgerAndPrices,
  tokensCostsAndSplitCoverage,
  restartsAndEndedModelDays,
  carriedMessages,
  idempotencyKeys,
  splitRevisions,
  sameMeaningFromSqlite337,
  livesThatCount,
  orderOfCommits,
  runsByModel,
  evidence,
  staleness,
  entries,
  universes,
  dividends,
  marketDays,
  holders,
  decisionsAndSearch,
  openings,
  wordingAndDigests,
  comparedByMorning,
  figureSettings,
  filesByMeaning,
  pricesFromTheUnit,
  whoAnswered,
];

/** The version of a database with all migrations. */
export const newestVersion = migrations.length;

/**
 * What makes a database of the newest version: all tables for a new one, or the migrations from its
 * own version on.
 */
export function sqlFrom(version: number | 'new'): readonly string[] {
  return version === 'new' ? [tables] : migrations.slice(version);
}
