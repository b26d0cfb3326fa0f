import * as v from 'valibot';
import { dateOf } from '../basics/calendar.ts';
import { ServiceError } from '../basics/domain.ts';
import { quote } from '../basics/text.ts';
import { documentCoverage as coverageOf, readDocument } from '../database/documents.ts';
import {
  type Context,
  deploymentFields,
  type Input,
  listBody,
  type ResponseBody,
} from './handler.ts';
import { countSchema, dateText, deploymentEntries, named } from './schemas.ts';

export const documentCoverageResponse = named('DocumentCoverageResponse', {
  coverage: v.array(
    named('DocumentCoverage', {
      kind: v.string(),
      /** Null for documents of no symbol, which every model may read. */
      symbol: v.nullable(v.string()),
      /** How many ids there are; later versions of one are the same document. */
      documents: countSchema,
      first_date: dateText,
      last_date: dateText,
    }),
  ),
  count: countSchema,
  ...deploymentEntries,
});

/** How many documents of each kind and symbol are stored. */
export function documentCoverage({ database, settings }: Context): ResponseBody {
  const items = coverageOf(database).map(({ firstDate, lastDate, ...own }) =>
    JSON.stringify({ ...own, first_date: firstDate, last_date: lastDate }),
  );
  return listBody('coverage', items, (count) => ({ count, ...deploymentFields(settings) }));
}

export const documentQuery = v.object({
  as_of: v.pipe(
    v.optional(dateText),
    v.description('The morning of which the version is; today when absent.'),
  ),
});

export const documentResponse = named('DocumentResponse', {
  id: v.string(),
  kind: v.string(),
  /** Of publication, in New York. */
  date: dateText,
  /** A date, or an instant in UTC. */
  published_at: v.string(),
  symbols: v.array(v.string()),
  title: v.string(),
  source: v.nullable(v.string()),
  url: v.nullable(v.string()),
  text: v.string(),
  /** SHA-256 of all fields but the id. */
  digest: v.string(),
  ...deploymentEntries,
});

/** A document in the version that models could read on a morning. */
export function document(
  { database, settings, clock }: Context,
  { params, query }: Input<v.InferOutput<typeof documentQuery>>,
): ResponseBody {
  const id = params['id'] ?? '';
  const date = query.as_of ?? dateOf(clock());
  const morning = { reader: database, date, write: null, symbols: null, session: null };
  const found = readDocument(morning, id);
  if (found === undefined)
    throw new ServiceError(
      'document_not_found',
      `There is no document ${quote(id)} that could be read on the morning of ${date}`,
    );
  const { publishedAt, symbols, version: _version, ...own } = found;
  return JSON.stringify({
    ...own,
    published_at: publishedAt,
    symbols: JSON.parse(symbols) as string[],
    ...deploymentFields(settings),
  });
}
