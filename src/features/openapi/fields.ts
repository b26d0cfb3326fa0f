import { conventions } from '../comparison/conventions.ts';
import { reportConventions } from '../performance/definitions.ts';
import { dataFields } from './data-fields.ts';
import { figureFields } from './figure-fields.ts';
import { jobFields } from './job-fields.ts';
import { sessionFields } from './session-fields.ts';

/** The conventions that responses repeat are described by themselves. */
const conventionFields: Readonly<Record<string, string>> = {
  // Conventions of the figures.
  ...prefixed('Conventions', {
    ...texts(reportConventions(0, [])),
    trading_days_per_year: 'How many model-days make a year.',
    risk_free_rate: 'The risk-free rate per year (RISK_FREE_RATE), as a fraction.',
    risk_free_rate_daily: 'The risk-free rate per day, as a fraction.',
    min_days_for_annual_return: 'Returns over fewer days are not annualised.',
    min_days_for_risk: 'Figures of risk need as many days.',
    min_share_of_weekdays:
      'Nothing is scaled to a year when a smaller fraction of the weekdays has a return.',
    definitions: 'The definition of each figure, by name.',
    units: 'The names of the figures in each unit. All others are plain numbers.',
  }),
  ...prefixed('ComparisonConventions', conventions),
};

/** No name is in two of them. */
export const fieldLists = [jobFields, sessionFields, figureFields, dataFields, conventionFields];

/**
 * What each property of the interface means: by its name, or as `Schema.property` where it means
 * something else in one schema. The build reads it (openapi.ts), and so does docs/reference/api-fields.md.
 * Metrics have a list of their own (metrics.ts); a description in a request's schema comes first.
 */
export const fields: Readonly<Record<string, string>> = Object.assign({}, ...fieldLists);

function prefixed(schema: string, texts: Readonly<Record<string, string>>) {
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [`${schema}.${name}`, text] as const),
  );
}

/** The conventions that are sentences. */
function texts(conventions: object): Record<string, string> {
  return Object.fromEntries(
    Object.entries(conventions).filter(([, value]) => typeof value === 'string'),
  );
}
