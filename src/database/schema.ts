import { tables } from './tables.ts';

/**
 * The schema's history since the first release: each migration brings a database one version
 * (`user_version`) further, in SQL that takes nothing from this program, so that no later change of
 * the program alters what an old database becomes. A released migration is never edited; every
 * change is a new one, including a new word in a list of domain.ts.
 */
export const migrations: string[] = [];

/** The version that a new database has. */
export function newestVersion(): number {
  return 1 + migrations.length;
}

/**
 * What makes a database of the newest version: all tables for a new one, or the migrations from its
 * own version on.
 */
export function sqlFrom(version: number | 'new'): readonly string[] {
  return version === 'new' ? [tables] : migrations.slice(version - 1);
}
