import type { Lifetime } from '../database/audit.ts';

/** A stretch of time within which something was read. */
export interface Moment {
  from: string;
  to: string;
}

/** Everything that one thing ever was, the newest first. */
export type Versions<Version extends Lifetime> = readonly Version[];

export function newestFirst<Version extends Lifetime>(all: Version[]): Versions<Version> {
  return all.length < 2 ? all : all.sort((one, other) => (one.recordedAt > other.recordedAt ? -1 : 1));
}

/** What was there at an instant, going by the stamps. */
export function versionAt<Version extends Lifetime>(all: Versions<Version>, at: string): Version | undefined {
  return all.find(({ recordedAt, replacedAt }) => recordedAt <= at && (replacedAt === null || replacedAt > at));
}

/**
 * The first version of something that came after an instant, when nothing is known of it at that instant. It may have
 * been there all the same: some tools replace a row without leaving a trace of what it was.
 */
export function laterVersion<Version extends Lifetime>(all: Versions<Version>, at: string): Version | undefined {
  if (versionAt(all, at) !== undefined) return undefined;
  return all.findLast(({ recordedAt }) => recordedAt > at);
}

/** Everything that may have been read at some time of a moment. */
export function versionsWithin<Version extends Lifetime>(all: Versions<Version>, { from, to }: Moment): Version[] {
  return all.filter(({ recordedAt, replacedAt }) => {
    // Two changes within one millisecond, or a clock that went back.
    const hasNoLife = replacedAt !== null && replacedAt <= recordedAt;
    return recordedAt <= to && (replacedAt === null || replacedAt > from || hasNoLife);
  });
}

/** Whether there was one version or another of it all through a moment. */
export function isThereAllThrough(all: Versions<Lifetime>, { from, to }: Moment): boolean {
  let reach = from;
  for (const { recordedAt, replacedAt } of all.toReversed()) {
    if (recordedAt > reach) return false;
    if (replacedAt === null || replacedAt > to) return true;
    if (replacedAt > reach) reach = replacedAt;
  }
  return false;
}

/** When something changed within a moment. */
export function changesWithin(all: Versions<Lifetime>, { from, to }: Moment): string[] {
  const stamps = all.flatMap(({ recordedAt, replacedAt }) => [recordedAt, replacedAt]);
  return stamps.filter((stamp) => stamp !== null && stamp > from && stamp <= to) as string[];
}

/** A time stamp some time later; one that cannot be read stays as it is. */
export function shift(timestamp: string, ms: number): string {
  const instant = Date.parse(timestamp);
  return Number.isNaN(instant) ? timestamp : new Date(instant + ms).toISOString();
}
