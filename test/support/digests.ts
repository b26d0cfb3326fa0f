import type { Database } from '../../src/database/database.ts';
import { storeDigests } from '../../src/database/digests.ts';

const HOLDINGS = `SELECT action_id, holdings.symbol, quantity FROM positions JOIN holdings USING (position_id) WHERE session_id = ?
  ORDER BY action_id, holdings.symbol`;

/** Makes the digests of all committed model-days fit what is stored, as somebody would who forges a file with this program. */
export function resealDigests(database: Database): void {
  const sealed = database.statement('SELECT session_id AS id FROM session_digests').all().map(({ id }) => Number(id));
  database.statement('DELETE FROM session_digests').run();
  for (const id of sealed) storeDigests(database, id, JSON.stringify(database.statement(HOLDINGS, 'arrays').all(id)));
}
