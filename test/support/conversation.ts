import type { Database } from '../../src/database/database.ts';

/** The contents of all messages that are logged; of one role, or of all. */
export function readConversation(database: Database, role: string | null = null): string[] {
  return database
    .statement('SELECT content FROM reasoning_logs WHERE role = coalesce(?, role) ORDER BY log_id')
    .all(role)
    .map((row) => String(row['content']));
}
