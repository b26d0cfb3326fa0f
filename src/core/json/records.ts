import * as v from 'valibot';
import { asObject } from './json.ts';

/**
 * An object from outside whose keys are data. It keeps all of them as its own; Valibot's `record`
 * leaves out `__proto__`, `prototype` and `constructor` without a word, and takes an array.
 */
export function recordSchema<Value extends v.GenericSchema>(
  value: Value,
  { key = v.string(), message }: { key?: v.GenericSchema<string>; message?: string } = {},
) {
  const schema = v.record(key, value, message);
  const entries = v.map(key, value);
  const run: (typeof schema)['~run'] = (dataset, config) => {
    const input = asObject(dataset.value);
    if (input === undefined) {
      v._addIssue(schema, 'type', dataset, config);
      return dataset as never;
    }
    const result = entries['~run']({ value: new Map(Object.entries(input)) }, config);
    return { ...result, value: Object.fromEntries(result.value as Map<string, unknown>) } as never;
  };
  return { ...schema, '~run': run };
}
