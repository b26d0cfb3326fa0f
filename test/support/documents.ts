import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { CommandDatabase } from '../../src/database/database.ts';
import { type DocumentsSummary, importDocuments } from '../../src/prices/import-documents.ts';
import type { Session } from '../../src/trading/session.ts';
import { callIn } from './books.ts';
import { temporaryFolder } from './service.ts';

/** A row of a file of documents: what a test does not say is that of a short piece of news. */
export function row(fields: Record<string, unknown>): Record<string, unknown> {
  return { kind: 'news', title: 'A title', text: 'A text.', published_at: '2025-01-02', ...fields };
}

/** Imports rows, or a text as it is; resolves to the summary with a line for each refused row. */
export async function importRows(
  t: TestContext,
  database: CommandDatabase,
  rows: readonly object[] | string,
  name = 'documents.jsonl',
): Promise<DocumentsSummary & { lines: string[] }> {
  const path = join(temporaryFolder(t), name);
  const content =
    typeof rows === 'string' ? rows : rows.map((one) => JSON.stringify(one)).join('\n');
  writeFileSync(path, content);
  const lines: string[] = [];
  const summary = await importDocuments(
    database,
    { path, name },
    {
      clock: () => new Date('2025-06-01T00:00:00Z'),
      onRefused: (line, { reason, value }) => lines.push(`${line}: ${reason} (${value})`),
    },
  );
  return { ...summary, lines };
}

/** The result of a tool in a session. */
export async function call(session: Session, tool: string, args: object): Promise<any> {
  const { results } = await callIn(session, tool, args);
  return JSON.parse(results[0]?.content ?? '');
}

/** The ids that a list has. */
export async function listed(session: Session, args: object = {}): Promise<string[]> {
  const { documents } = await call(session, 'list_documents', args);
  return documents.map(({ id }: { id: string }) => id);
}
