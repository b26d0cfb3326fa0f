import * as v from 'valibot';
import { invalidFilter, ServiceError } from '#domain/service-error.ts';
import { documentCoverage, documentVersion, readDocument } from '#database/document-queries.ts';
import { jsonBody } from './handler.ts';
import { countSchema, dateText, namedResponse, named, nullableText } from './schemas.ts';
import { route } from './route.ts';

export const documentCoverageResponse = namedResponse('DocumentCoverageResponse', {
  coverage: v.array(
    named('DocumentCoverage', {
      kind: v.string(),
      symbol: nullableText,
      documents: countSchema,
      first_date: dateText,
      last_date: dateText,
    }),
  ),
});

const documentQuery = v.object({
  as_of: v.optional(v.pipe(dateText, v.description('The date of the morning.'))),
  version: v.optional(
    v.pipe(v.string(), v.description('In place of as_of: the published_at of the version.')),
  ),
});

export const documentResponse = namedResponse('DocumentResponse', {
  id: v.string(),
  kind: v.string(),
  date: dateText,
  published_at: v.string(),
  symbols: v.array(v.string()),
  title: v.string(),
  source: nullableText,
  url: nullableText,
  digest: v.string(),
  text: v.string(),
});

export const documentCoverageRoute = route({
  method: 'GET',
  path: '/documents/coverage',
  tag: 'data',
  summary: 'The number and dates of documents, by kind and symbol.',
  response: documentCoverageResponse,
  isKept: true,
  handle({ database, settings }) {
    return jsonBody(settings, { coverage: documentCoverage(database) });
  },
});

export const documentRoute = route({
  method: 'GET',
  path: '/documents/{id}',
  tag: 'data',
  summary: 'A document in one version, or as it was on a morning.',
  query: documentQuery,
  response: documentResponse,
  errors: { 404: 'There is no such document.' },
  handle({ database: reader, settings }, { params: { id = '' }, query: { as_of: date, version } }) {
    if ((date === undefined) === (version === undefined))
      throw invalidFilter('as_of', 'give either as_of or version');
    const found =
      date === undefined
        ? documentVersion(reader, id, version ?? '')
        : readDocument({ reader, date, write: null, symbols: null }, id);
    if (found === undefined) {
      const problem =
        date === undefined
          ? `No version of document '${id}' was published at ${version}`
          : `No document '${id}' had been published by the morning of ${date}`;
      throw new ServiceError('document_not_found', problem);
    }
    const { version: _, publishedAt: published_at, symbols, ...own } = found;
    return jsonBody(settings, { ...own, published_at, symbols: JSON.parse(symbols) });
  },
});
