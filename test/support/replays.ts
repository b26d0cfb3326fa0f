import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { Database } from '../../src/core/database/database.ts';
import { asObject, tryParse } from '../../src/core/json/json.ts';
import {
  type MakeFirstMessages,
  modelFirstMessages,
  type AuditReport,
  emptyAuditReport,
  replayLedger,
} from '../../src/core/verify/replay.ts';
import { auditDatabase } from '../../src/core/verify/database-audit.ts';
import { linesOf } from './books.ts';

/**
 * Agents of tests that follow a script begin with their brief as JSON, or their whole start; some
 * begin with a fixed word.
 */
const firstMessagesOfScripts: MakeFirstMessages = (brief, record) => {
  const [first, ...others] = record.conversation;
  if (first?.role !== 'user' || others[0]?.role === 'user')
    return modelFirstMessages(brief, record);
  const said = asObject(tryParse(first.content));
  if (record.terms.entry.kind === 'agent') return modelFirstMessages(brief, record);
  const read = said?.['brief'] ?? said;
  const isBrief = read === undefined || isDeepStrictEqual(read, JSON.parse(JSON.stringify(brief)));
  return [isBrief ? first : { role: 'user', content: JSON.stringify(brief) }];
};

/**
 * Of an agent that ends its day without an answer, or of one that sends anything and ends it with
 * other words than its answer: ours never do.
 */
const NOT_OURS = /, replayed nothing$|^hostile \S+: trading_sessions, session_summary: /;

/** The model-days of a database whose replay differs, as lines. */
export async function replayDifferences(database: Database): Promise<string[]> {
  const report = emptyAuditReport();
  await replayLedger(database, report, { firstMessagesOf: firstMessagesOfScripts });
  const lines = linesOf([...report.problems.first, ...report.unverifiable.first]);
  return lines.filter((line) => !NOT_OURS.test(line));
}

/** As `GET /audit`, of a service whose agents follow a script. */
export function auditScripts({
  settings,
}: {
  settings: { databasePath: string };
}): Promise<AuditReport> {
  return auditDatabase(settings.databasePath, { firstMessagesOf: firstMessagesOfScripts });
}

const HAS_CONVERSATIONS = 'SELECT 1 FROM reasoning_logs LIMIT 1';

/** Asserts that every committed model-day of a database is the same when it is replayed. */
export async function assertReplays(database: Database): Promise<void> {
  if (database.statement(HAS_CONVERSATIONS).get() === undefined) return; // filled by SQL
  assert.deepEqual(
    await replayDifferences(database),
    [],
    'everything that a test leaves behind replays',
  );
}
