import * as v from 'valibot';
import { EARLIEST_DATE, isCalendarDate, isTooEarly } from '../calendar.ts';

/** Schemas that several endpoints share, for checking what comes in and describing what goes out. */

/** Exported on its own, so that the interface description can say `format: date` where it stands. */
export const existsInCalendar = v.check(
  (text: string) => isCalendarDate(text),
  (issue) => invalidDate(issue.input),
);

export const dateText = v.pipe(
  v.string((issue) => invalidDate(issue.input)),
  existsInCalendar,
);

export function invalidDate(value: unknown): string {
  if (isTooEarly(value)) return `Invalid date: ${value}. The earliest is ${EARLIEST_DATE}`;
  return `Invalid date format: ${shown(value).slice(0, 100)}. Expected YYYY-MM-DD`;
}

function shown(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    return JSON.stringify(value) ?? 'undefined';
  } catch {
    return 'a value too deeply nested'; // a megabyte of brackets
  }
}

export const timestampText = v.pipe(v.string(), v.isoTimestamp());

export const countSchema = v.pipe(v.number(), v.integer(), v.minValue(0));

/** In model-days. */
export const progressSchema = v.object({
  total_model_days: countSchema,
  completed: countSchema,
  failed: countSchema,
  pending: countSchema,
});

export const deploymentEntries = {
  deployment_mode: v.picklist(['DEV', 'PROD']),
  is_dev_mode: v.boolean(),
  preserve_dev_data: v.nullable(v.boolean()),
};

export const errorSchema = v.object({ detail: v.string(), ...deploymentEntries });
export const bareErrorSchema = v.object({ detail: v.string() });
