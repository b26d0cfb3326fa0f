import * as v from 'valibot';
import { ServiceError } from '../basics/domain.ts';
import { documentCoverage, readDocument } from '../database/documents.ts';
import { type Context, jsonBody, type Input } from './handler.ts';
import { countSchema, dateText, namedResponse, named } from './schemas.ts';

export const documentCoverageResponse = namedResponse('DocumentCoverageResponse', {
  coverage: v.array(
    named('DocumentCoverage', {
      kind: v.string(),
      /** Null for documents of no symbol, which are of all. */
      symbol: v.nullable(v.string()),
      /** Each counts once, whatever versions it has. */
      documents: countSchema,
      first_date: dateText,
      last_date: dateText,
    }),
  ),
});

/** How many documents of each kind and symbol are stored. */
export function coverage({ database, settings }: Context): string {
  return jsonBody(settings, { coverage: documentCoverage(database) });
}

export const documentQuery = v.object({
  as_of: v.pipe(dateText, v.description('The date of the morning.')),
});

export const documentResponse = namedResponse('DocumentResponse', {
  id: v.string(),
  kind: v.string(),
  /** Of publication, in New York. */
  date: dateText,
  /** A date, or an instant in UTC. */
  published_at: v.string(),
  /** None: it is of all. */
  symbols: v.array(v.string()),
  title: v.string(),
  source: v.nullable(v.string()),
  url: v.nullable(v.string()),
  /** SHA-256 of all that it says. */
  digest: v.string(),
  text: v.string(),
});

/** A document in the version of a morning. */
export function document(
  { database: reader, settings }: Context,
  { params: { id = '' }, query: { as_of: date } }: Input<{ as_of: string }>,
): string {
  const found = readDocument({ reader, date, write: null, symbols: null }, id);
  if (found === undefined)
    throw new ServiceError(
      'document_not_found',
      `There is no document ${id} on the morning of ${date}`,
    );
  const { version: _, publishedAt: published_at, symbols, ...own } = found;
  return jsonBody(settings, { ...own, published_at, symbols: JSON.parse(symbols) });
}
