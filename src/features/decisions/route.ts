import * as v from 'valibot';
import { ledgersByName } from '#database/records/model-records.ts';
import { decisionKinds, sides } from '#database/decisions.ts';
import { countDecisions, readDecisions as decisionsOf, findPlace } from './queries.ts';
import { invalidFilter } from '#domain/service-error.ts';
import { feedEntries, sessionFilters } from '#api/filters.ts';
import { type Context, schemaColumns, formatQuery, jsonBody, objectTable } from '#api/handler.ts';
import {
  countSchema,
  dateText,
  figure,
  namedResponse,
  integerSchema,
  limitFilter,
  named,
  studyField,
  symbolFilter,
  textFilter,
  timestampText,
  nullableText,
} from '#api/schemas.ts';
import { MODEL_DAY_ERRORS, route } from '#api/route.ts';

/** Feature: what the models did and why, one decision after the other. */

const DEFAULT_DECISIONS = 50;
const MAX_DECISIONS = 200;

const decisionsQuery = v.object({
  ...feedEntries,
  symbol: symbolFilter(
    'A ticker symbol, in either case: only orders for it.',
    'expected a ticker symbol',
  ),
  kind: v.optional(
    v.pipe(
      v.picklist(decisionKinds, `expected one of ${decisionKinds.join(', ')}`),
      v.description(
        'Executed orders, refused orders, malformed calls, failed model-days, or model-days without a trade.',
      ),
    ),
  ),
  limit: limitFilter(MAX_DECISIONS, DEFAULT_DECISIONS),
  before: textFilter('The id of a decision: those that come after it in the list.'),
  ...formatQuery,
});

const decision = named('Decision', {
  id: v.string(),
  kind: v.pipe(v.picklist(decisionKinds), v.title('DecisionKind')),
  model: v.string(),
  date: dateText,
  job_id: v.string(),
  session_id: v.nullable(integerSchema),
  timestamp: timestampText,
  symbol: nullableText,
  side: v.nullable(v.picklist(sides)),
  amount: figure,
  price: figure,
  reason: nullableText,
  detail: nullableText,
  message_index: v.nullable(integerSchema),
  study: studyField,
});

export const decisionsResponse = namedResponse('DecisionsResponse', {
  decisions: v.array(decision),
  count: countSchema,
  next_before: nullableText,
});

function decisionFilters(context: Context, query: v.InferOutput<typeof decisionsQuery>) {
  const { symbol, kind } = query;
  return { ...sessionFilters(context, query, { mustExist: true }), symbol, kind };
}

export const decisionsRoute = route({
  method: 'GET',
  path: '/decisions',
  tool: 'decisions',
  tag: 'results',
  summary:
    'What the models did and why, newest first: orders, refusals, failures, days without a trade; a page at a time.',
  query: decisionsQuery,
  response: decisionsResponse,
  errors: MODEL_DAY_ERRORS,
  hasTable: true,
  isKept: true,
  list: 'decisions',
  count: (context, { query }) => countDecisions(context.database, decisionFilters(context, query)),
  handle(context, { query, format }) {
    const { database, settings } = context;
    const { limit, before } = query;
    const filters = decisionFilters(context, query);
    const place = before === undefined ? null : findPlace(database, before);
    if (place === undefined) throw invalidFilter('before', 'expected the id of a decision');
    const found = decisionsOf(database, filters, { after: place, limit: limit + 1 });
    const page = found.slice(0, limit);
    if (format === 'csv') {
      const ledgers = ledgersByName(database);
      return objectTable(
        'decisions.csv',
        [...schemaColumns(decision).slice(0, -1), 'currency', 'study'],
        page.map((row) => ({ ...row, ...ledgers.get(row.model) })),
      );
    }
    return jsonBody(settings, {
      decisions: page,
      count: page.length,
      next_before: found.length > limit ? page.at(-1)?.id : null,
    });
  },
});
