import { conventions } from '../comparison/conventions.ts';
import { reportConventions } from '../performance/definitions.ts';
import { dataFields } from './data-fields.ts';
import { figureFields } from './figure-fields.ts';
import { jobFields } from './job-fields.ts';
import { metricTexts } from './metrics.ts';
import { sessionFields } from './session-fields.ts';

/** A convention that is a sentence describes itself. */
const conventionTexts = Object.entries({
  Conventions: reportConventions(0, []),
  ComparisonConventions: conventions,
}).flatMap(([schema, own]) =>
  Object.entries(own).flatMap(([name, text]) =>
    typeof text === 'string' ? [[`${schema}.${name}`, text] as const] : [],
  ),
);

/**
 * What each property means, by its name or as `Schema.property`. No key is there twice. The build
 * reads it, and so does docs/reference/api-fields.md; a request's schema describes itself first.
 */
export const fieldTexts = [
  ...[jobFields, sessionFields, figureFields, dataFields].flatMap((own) => Object.entries(own)),
  ...metricTexts,
  ...conventionTexts,
];
