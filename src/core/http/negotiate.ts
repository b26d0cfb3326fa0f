import type { Format } from '#api/handler.ts';

const MEDIA_TYPES: Record<Format, string> = { json: 'application/json', csv: 'text/csv' };
const HTML = 'text/html';

/**
 * The format of a response that has both: the one named in the query, otherwise the one that the
 * Accept header prefers. JSON where that says nothing, prefers neither or accepts neither; CSV
 * where it accepts both equally but names only CSV.
 */
export function chooseFormat(named: unknown, accept: string | undefined): Format {
  if (named === 'json' || named === 'csv') return named;
  return accept !== undefined && isPreferredToJson(MEDIA_TYPES.csv, accept) ? 'csv' : 'json';
}

/** Whether a request comes from a browser's address bar rather than from a program. */
export function prefersHtml(accept: string | undefined): boolean {
  return accept !== undefined && isPreferredToJson(HTML, accept);
}

/** A content coding that saves room. */
export type Coding = 'zstd' | 'br' | 'gzip';

/**
 * The content coding that an Accept-Encoding header prefers (RFC 9110, 12.5.3) of those that are
 * offered, best first. Null for a client that sends no header, prefers `identity`, or accepts
 * nothing that is offered.
 */
export function chooseCoding<Offered extends Coding>(
  accept = '',
  offered: readonly Offered[],
): Offered | null {
  const qualities = new Map<string, number>();
  for (const { name, quality } of weightedNames(accept))
    qualities.set(name === 'x-gzip' ? 'gzip' : name, quality);
  const identity = qualities.get('identity') ?? 0;
  let best: { coding: Offered | null; quality: number } = { coding: null, quality: 0 };
  for (const coding of offered) {
    const quality = qualities.get(coding) ?? qualities.get('*') ?? 0;
    if (quality > best.quality && quality >= identity) best = { coding, quality };
  }
  return best.coding;
}

function isPreferredToJson(mediaType: string, accept: string): boolean {
  const [json, other] = [preferenceFor(MEDIA_TYPES.json, accept), preferenceFor(mediaType, accept)];
  if (other.quality === 0) return false;
  if (other.quality !== json.quality) return other.quality > json.quality;
  return other.exactness > json.exactness;
}

/**
 * How much an Accept header prefers a media type (0 to 1), and how specifically it names it: 3 by
 * name, 2 `text/*`, 1 any. The most specific range that covers the type decides (RFC 9110, 12.5.1).
 */
function preferenceFor(mediaType: string, accept: string) {
  const exactnessByRange = new Map([
    [mediaType, 3],
    [`${mediaType.split('/')[0]}/*`, 2],
    ['*/*', 1],
  ]);
  let best = { quality: 0, exactness: 0 };
  for (const { name, quality } of weightedNames(accept)) {
    const exactness = exactnessByRange.get(name) ?? 0;
    if (exactness > best.exactness) best = { exactness, quality };
  }
  return best;
}

/**
 * The names in a header that weighs them, in lower case, each with its quality (RFC 9110, 12.4.2).
 */
function weightedNames(header: string): { name: string; quality: number }[] {
  return header
    .toLowerCase()
    .split(',')
    .map((part) => {
      const [name = '', ...parameters] = part.split(';').map((word) => word.trim());
      const weight = parameters.find((parameter) => parameter.startsWith('q='));
      const quality = weight === undefined ? 1 : Number(weight.slice(2));
      return { name, quality: quality >= 0 && quality <= 1 ? quality : 0 };
    });
}
