import assert from 'node:assert/strict';
import { asArray, asObject, asObjects, type Json } from '#json/json.ts';
import { compact, list as listed } from '#text/sentences.ts';
import { invalidFilter } from '#domain/service-error.ts';
import { bodyPieces, type Context, type FittedAnswer, type Input, isReady } from './handler.ts';
import type { Route } from './route.ts';

/** Answers that are cut to some bytes, for readers who see no more. */

/** The answer of a route, cut to `input.most` bytes. */
export function fitted(route: Route, context: Context, input: Input): FittedAnswer {
  const handled = route.handle(context, input);
  assert(isReady(handled), 'what is cut is made in one go');
  const text = [...bodyPieces(handled).pieces].join('');
  return fitAnswer(text, input.most ?? 0, route, route.list?.count?.(context, input));
}

/** For commas, and a `next_before` that is longer than the one before. */
const SPARE_BYTES = 1_000;

/**
 * Cuts the long list of an answer to its first whole records. A record that is too large by itself
 * loses its longest lists, and so does what is beside them. `total`: how many records the whole list
 * has, where the answer may have fewer. Throws a `ServiceError` where that is not enough.
 */
export function fitAnswer(
  text: string,
  most: number,
  { path, list: { name, rest } = { name: '' } }: Pick<Route, 'path' | 'list'>,
  total?: number,
): FittedAnswer {
  if (Buffer.byteLength(text) <= most) return { text, left: null };
  const { [name]: records, ...others }: Json = JSON.parse(text);
  const all = asObjects(records);
  const beside = withoutLists(others, most / 2);
  const shown: Shortened[] = [];
  const room = most - SPARE_BYTES - beside.bytes;
  let used = 0;
  for (const record of all) {
    const own = withoutLists(record, room);
    used += own.bytes;
    if (used > room) break;
    shown.push(own);
  }
  if (room < 0 || (all.length > 0 && shown.length === 0))
    throw invalidFilter('answer', `is longer than ${most} bytes; GET ${path} has it over HTTP`);
  const last = shown.length < all.length ? shown.at(-1)?.value : undefined;
  const before = last?.['id'] ?? last?.['job_id'];
  const hasPages = 'next_before' in others && before !== undefined;
  const cut = {
    ...(all.length > 0 && { [name]: shown.map(({ value }) => value) }),
    ...beside.value,
    ...('count' in others && { count: shown.length }),
    ...(hasPages && { next_before: before }),
  };
  const further = hasPages ? `before ${before} asks for the rest` : rest;
  const overHttp = `GET ${path} has all over HTTP`;
  const whole = total ?? all.length;
  const lost = [...new Set([beside, ...shown].flatMap((part) => part.lost))];
  const left = compact([
    shown.length < whole &&
      `${shown.length} of ${whole} ${name} are shown; ${further ? `${further}; ` : ''}${overHttp}.`,
    lost.length > 0 &&
      `Too long here, and left empty: ${listed(lost)}; GET ${path} has them over HTTP.`,
  ]);
  return { text: JSON.stringify(cut), left: left.join(' ') };
}

/** A part of an answer, and the names of the lists that it has lost. */
interface Shortened {
  value: Json;
  bytes: number;
  lost: string[];
}

/** Empties the longest lists, as many as it takes, or all. */
function withoutLists(part: Json, most: number): Shortened {
  const shortened = { value: part, bytes: bytesOf(part), lost: [] as string[] };
  if (shortened.bytes <= most) return shortened;
  const value = structuredClone(part);
  for (const { holder, name, bytes } of listsIn(value).sort(
    (one, other) => other.bytes - one.bytes,
  )) {
    holder[name] = [];
    shortened.lost.push(name);
    if ((shortened.bytes -= bytes) <= most) break;
  }
  return { ...shortened, value, bytes: bytesOf(value) };
}

/** The lists that are not empty, but for those within others. */
function listsIn(value: unknown): { holder: Json; name: string; bytes: number }[] {
  const holder = asObject(value) ?? {};
  return Object.entries(holder).flatMap(([name, own]) =>
    asArray(own)?.length ? [{ holder, name, bytes: bytesOf(own) }] : listsIn(own),
  );
}

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
