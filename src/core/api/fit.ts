import assert from 'node:assert/strict';
import { asArray, asObject, type Json } from '#json/json.ts';
import { list as listed } from '#text/sentences.ts';
import { ServiceError } from '#domain/service-error.ts';
import { bodyPieces, type Context, type FittedAnswer, type Input, isReady } from './handler.ts';
import type { Route } from './route.ts';

/** Answers that are cut to some bytes, for readers who see no more. */

interface Whole {
  /** Its path over HTTP. */
  path: string;
  list: { name: string; rest?: string } | undefined;
  /** How many records the whole list has, where the answer has fewer. */
  total: number | undefined;
}

/** For the comma of a record, and a longer `next_before`. */
const SPARE_BYTES = 100;

/**
 * Cuts the long list of an answer to its first whole records. A record that is too large by itself
 * loses its longest lists, and so does what is beside the records. Throws a `ServiceError` where that
 * is not enough.
 */
export function fitAnswer(text: string, most: number, { path, list, total }: Whole): FittedAnswer {
  if (Buffer.byteLength(text) <= most) return { text, left: null };
  const { [list?.name ?? '']: records, ...others } = asObject(JSON.parse(text)) ?? {};
  const all = asArray(records) ?? [];
  const lost = new Set<string>();
  const beside = withoutLists(others, all.length > 0 ? most / 2 : most - SPARE_BYTES, lost);
  const room = most - SPARE_BYTES - bytesOf(beside);
  const shown: Json[] = [];
  let used = 0;
  for (const record of all) {
    const own = withoutLists(record, room, lost);
    used += bytesOf(own) + 1;
    if (used > room) break;
    shown.push(asObject(own) ?? {});
  }
  const next = lastId(beside, shown);
  const cut = {
    ...(list && all.length > 0 && { [list.name]: shown }),
    ...beside,
    ...('count' in beside && { count: shown.length }),
    ...next,
  };
  const json = JSON.stringify(cut);
  if (Buffer.byteLength(json) > most || (all.length > 0 && shown.length === 0))
    throw new ServiceError(
      'invalid_filter',
      `This answer is longer than ${most} bytes; GET ${path} has it over HTTP`,
    );
  const page = next && `before ${next.next_before} asks for the rest`;
  const rest = list?.rest ?? page ?? `GET ${path} has the others over HTTP`;
  const isCut = shown.length < (total ?? all.length);
  const sentences = [
    isCut &&
      `These are the first ${shown.length} of ${total ?? all.length} ${list?.name}; ${rest}.`,
    lost.size > 0 &&
      `Too long here, and left empty: ${listed([...lost])}; GET ${path} has them over HTTP.`,
  ];
  return { text: json, left: sentences.filter(Boolean).join(' ') };
}

/** The page after the last record that is shown. */
function lastId(beside: object, shown: readonly Json[]) {
  const { id, job_id: job } = shown.at(-1) ?? {};
  return 'next_before' in beside ? { next_before: id ?? job } : null;
}

/** The value with its longest lists empty, as many as it takes, whose names are added to `lost`. */
function withoutLists<Value>(value: Value, most: number, lost: Set<string>): Value {
  if (bytesOf(value) <= most) return value;
  const copy = structuredClone(value);
  for (let bytes = bytesOf(copy); bytes > most; bytes = bytesOf(copy)) {
    const [longest] = listsIn(copy).sort((one, other) => other.bytes - one.bytes);
    if (longest === undefined) break;
    longest.holder[longest.name] = [];
    lost.add(longest.name);
  }
  return copy;
}

/** The lists that are not empty, at any depth. */
function listsIn(value: unknown): { holder: Json; name: string; bytes: number }[] {
  const holder = asObject(value);
  if (holder === undefined) return (asArray(value) ?? []).flatMap(listsIn);
  return Object.entries(holder).flatMap(([name, own]) => {
    const length = asArray(own)?.length ?? 0;
    const inside = listsIn(own);
    return length > 0 ? [{ holder, name, bytes: bytesOf(own) }, ...inside] : inside;
  });
}

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

/** The answer of a route, cut to `input.most` bytes. */
export function fitted(route: Route, context: Context, input: Input): FittedAnswer {
  const { most = 0 } = input;
  const handled = route.handle(context, input);
  assert(isReady(handled), 'what is cut is made in one go');
  const { list, path } = route;
  return fitAnswer([...bodyPieces(handled).pieces].join(''), most, {
    ...{ list, path },
    total: list?.count?.(context, input),
  });
}
