import type { Cursor } from './cursor.ts';
import type { Range } from './view.ts';

/** What plots with the same key share. */
export interface Group {
  point(cursor: Cursor): void;
  /** Null shows all dates. */
  zoom(range: Range | null): void;
}

const groups = new Map<string, Set<Group>>();

/** Adds a plot to its group until the signal. Calls of the result reach every plot of the group; without a key, only this one. */
export function joinGroup(key: string | undefined, signal: AbortSignal, member: Group): Group {
  if (key === undefined) return member;
  const members = groups.get(key) ?? new Set();
  groups.set(key, members.add(member));
  signal.addEventListener('abort', () => members.delete(member));
  return {
    point(cursor) {
      member.point(cursor);
      for (const other of members) if (other !== member) other.point({ ...cursor, top: null });
    },
    zoom: (range) => members.forEach((each) => each.zoom(range)),
  };
}
