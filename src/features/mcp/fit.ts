import { asArray, asObject, asObjects, type Json } from '#json/json.ts';
import { compact, list as listed } from '#text/sentences.ts';
import { invalidFilter } from '#domain/service-error.ts';
import type { Route } from '#api/route.ts';

/** Answers that are cut to some bytes, for readers who see no more. */

/** For commas, and a `next_before` that is longer than the one before. */
const SPARE_BYTES = 1_000;

/**
 * Cuts the long list of an answer to its first whole records. A record that is too large by itself
 * loses its longest lists, and so does what is beside them; `left` says so in a sentence. `count`
 * tells how many records the whole list has, where the answer may have fewer. Throws a
 * `ServiceError` where that is not enough.
 */
export function fitAnswer(
  text: string,
  most: number,
  { path, list: name = '', rest }: Pick<Route, 'path' | 'list' | 'rest'>,
  count?: () => number | undefined,
): { text: string; left: string | null } {
  if (Buffer.byteLength(text) <= most) return { text, left: null };
  const { [name]: records, ...others }: Json = JSON.parse(text);
  const all = asObjects(records);
  const beside = shorten(others, most / 2);
  const shown: (typeof beside)[] = [];
  const room = most - SPARE_BYTES - beside.bytes;
  let used = 0;
  for (const record of all) {
    const own = shorten(record, room);
    used += own.bytes;
    if (used > room) break;
    shown.push(own);
  }
  if (room < 0 || (all.length > 0 && shown.length === 0))
    throw invalidFilter('answer', `is longer than ${most} bytes; GET ${path} has it over HTTP`);
  const last = shown.length < all.length ? shown.at(-1)?.part : undefined;
  const before = last?.['id'] ?? last?.['job_id'];
  const hasPages = 'next_before' in others && before !== undefined;
  const cut = {
    ...(all.length > 0 && { [name]: shown.map(({ part }) => part) }),
    ...others,
    ...('count' in others && { count: shown.length }),
    ...(hasPages && { next_before: before }),
  };
  const further = hasPages ? `before ${before} asks for the rest` : rest;
  const whole = count?.() ?? all.length;
  const lost = new Set([beside, ...shown].flatMap((one) => one.lost));
  const left = compact([
    shown.length < whole &&
      `${shown.length} of ${whole} ${name} are shown; ${further ? `${further}; ` : ''}GET ${path} has all over HTTP.`,
    lost.size > 0 &&
      `Too long here, and left empty: ${listed([...lost])}; GET ${path} has them over HTTP.`,
  ]);
  return { text: JSON.stringify(cut), left: left.join(' ') };
}

/** Empties the longest lists in a part of an answer, as many as it takes, or all; names them. */
function shorten(part: Json, most: number) {
  const lost: string[] = [];
  let bytes = bytesOf(part);
  if (bytes <= most) return { part, bytes, lost };
  for (const list of listsIn(part).sort((one, other) => other.bytes - one.bytes)) {
    list.holder[list.name] = [];
    lost.push(list.name);
    bytes -= list.bytes;
    if (bytes <= most) break;
  }
  return { part, bytes: bytesOf(part), lost };
}

/** The lists that are not empty, but for those within others. */
function listsIn(value: unknown): { holder: Json; name: string; bytes: number }[] {
  const holder = asObject(value) ?? {};
  return Object.entries(holder).flatMap(([name, own]) =>
    asArray(own)?.length ? [{ holder, name, bytes: bytesOf(own) }] : listsIn(own),
  );
}

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
