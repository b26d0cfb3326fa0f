import type { Database } from '../../src/database/database.ts';
import { storeDigests } from '../../src/database/digests.ts';

/**
 * Makes the digests of all committed model-days fit what is stored, as somebody would who forges a
 * file with this program.
 */
export function resealDigests(database: Database): void {
  const sealed = database
    .statement('SELECT session_id AS id FROM session_digests')
    .all()
    .map(({ id }) => Number(id));
  database.statement('DELETE FROM session_digests').run();
  for (const id of sealed) storeDigests(database, id);
}
