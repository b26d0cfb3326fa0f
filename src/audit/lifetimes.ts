import type { Lifetime } from '../database/audit.ts';

/** A stretch of time within which something was read. */
export interface Moment {
  from: string;
  to: string;
}

/** What was there at an instant, going by the stamps. */
export function versionAt<Version extends Lifetime>(all: readonly Version[], at: string): Version | undefined {
  return newestFirst(all).find(
    ({ recordedAt, replacedAt }) => recordedAt <= at && (replacedAt === null || replacedAt > at),
  );
}

/**
 * The first version of something that came after an instant, when nothing is known of it at that instant. It may have
 * been there all the same: some tools replace a row without leaving a trace of what it was.
 */
export function laterVersion<Version extends Lifetime>(all: readonly Version[], at: string): Version | undefined {
  if (versionAt(all, at) !== undefined) return undefined;
  return newestFirst(all).findLast(({ recordedAt }) => recordedAt > at);
}

/** Everything that may have been read at some time of a moment, the newest first. */
export function versionsWithin<Version extends Lifetime>(all: readonly Version[], { from, to }: Moment): Version[] {
  return newestFirst(all).filter(({ recordedAt, replacedAt }) => {
    // Two changes within one millisecond, or a clock that went back.
    const hasNoLife = replacedAt !== null && replacedAt <= recordedAt;
    return recordedAt <= to && (replacedAt === null || replacedAt > from || hasNoLife);
  });
}

/** Whether it was there, and the same, from the beginning to the end of a moment. */
export function spans({ recordedAt, replacedAt }: Lifetime, { from, to }: Moment): boolean {
  return recordedAt <= from && (replacedAt === null || replacedAt > to);
}

/** When something changed within a moment. */
export function changesWithin(all: readonly Lifetime[], { from, to }: Moment): string[] {
  const stamps = all.flatMap(({ recordedAt, replacedAt }) => [recordedAt, replacedAt]);
  return stamps.filter((stamp) => stamp !== null && stamp > from && stamp <= to) as string[];
}

/** A time stamp some time later; one that cannot be read stays as it is. */
export function shift(timestamp: string, ms: number): string {
  const instant = Date.parse(timestamp);
  return Number.isNaN(instant) ? timestamp : new Date(instant + ms).toISOString();
}

function newestFirst<Version extends Lifetime>(all: readonly Version[]): readonly Version[] {
  if (all.length < 2) return all;
  return [...all].sort((one, other) => (one.recordedAt > other.recordedAt ? -1 : 1));
}
