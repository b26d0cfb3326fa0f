import type { CalendarDate } from '../basics/calendar.ts';
import type { AgentConfiguration } from '../basics/configuration-schema.ts';
import { ServiceError } from '../basics/domain.ts';
import { membersBetween, membersOn } from '../basics/members.ts';
import { list } from '../basics/sentences.ts';
import { hasDocuments, isControlMarket } from '../database/documents.ts';
import type { Database } from '../database/database.ts';
import { hasBarBetween } from '../database/prices.ts';

/** What a job offers as of its dates: documents, and the members of its universe. */

const MAX_SYMBOLS = 1_000;

/** Whether models can read documents up to a date, and a warning where none may. */
export function documentsFor(
  database: Database,
  { stock_symbols: symbols }: AgentConfiguration,
  date: CalendarDate,
): { hasDocuments: boolean; warnings: string[] } {
  const morning = { reader: database, date, write: null, symbols, session: null };
  const isOffered = hasDocuments(morning);
  if (!isOffered || !isControlMarket(morning)) return { hasDocuments: isOffered, warnings: [] };
  const why = 'its names cannot be hidden in texts';
  return {
    hasDocuments: false,
    warnings: [`No documents are offered on a control market: ${why}`],
  };
}

/**
 * The terms of a job on its dates: of a universe as of a date, the symbols that are members then.
 * Throws a `ServiceError` (`invalid_dates`) for a date without members.
 */
export function withMembersOf(
  terms: AgentConfiguration,
  { dates, universe }: { dates: readonly CalendarDate[]; universe: string | null },
): AgentConfiguration {
  const { members } = terms;
  const [from, to] = [dates[0], dates.at(-1)];
  if (members === undefined || from === undefined || to === undefined) return terms;
  const refuse = (problem: string) =>
    new ServiceError('invalid_dates', `Universe '${universe}' ${problem}`);
  const empty = dates.find((date) => membersOn(members, date).length === 0);
  if (empty !== undefined) throw refuse(`has no members on ${empty}`);
  const symbols = membersBetween(members, { from, to });
  if (symbols.length > MAX_SYMBOLS)
    throw refuse(
      `has ${symbols.length} members from ${from} to ${to}, and at most ${MAX_SYMBOLS} are possible: name a shorter range`,
    );
  return { ...terms, stock_symbols: symbols };
}

/** A sentence that names the members without a price while they are members. */
export function memberWarnings(
  database: Database,
  { members = [] }: AgentConfiguration,
  dates: readonly CalendarDate[],
): string[] {
  const [first, last] = [dates[0], dates.at(-1)];
  if (first === undefined || last === undefined) return [];
  const during = members.flatMap(({ symbol, from, to }) => {
    const span = { from: from > first ? from : first, to: to !== null && to < last ? to : last };
    return span.from <= span.to ? [{ symbol, ...span }] : [];
  });
  const priced = new Set(
    during.filter((span) => hasBarBetween(database, span)).map(({ symbol }) => symbol),
  );
  const without = [...new Set(during.map(({ symbol }) => symbol))].filter(
    (symbol) => !priced.has(symbol),
  );
  return without.length === 0
    ? []
    : [`Members of the universe without a price while they are members: ${list(without.sort())}`];
}
