import { toJsonSchema } from '@valibot/to-json-schema';
import type { Json } from '#json/json.ts';
import { tradingDecision } from './decision.ts';
import { toolArguments, type ToolName } from './tool-arguments.ts';

/**
 * The arguments of each tool as JSON Schema, as models read them. The build runs this file and
 * inserts its result, because the converter is a development dependency.
 */
export const toolParameters = Object.fromEntries(
  Object.entries({ ...toolArguments, trading_decision: tradingDecision }).map(([name, schema]) => {
    // The output type: the input type also accepts what models should not use, digits as text and a
    // date of null.
    const { $schema: _dialect, ...parameters } = toJsonSchema(schema, {
      typeMode: 'output',
      errorMode: 'ignore',
      overrideSchema: ({ valibotSchema, jsonSchema }) =>
        valibotSchema.type === 'nullish' ? (jsonSchema.anyOf?.[0] as typeof jsonSchema) : undefined,
    });
    return [name, parameters];
  }),
) as Record<ToolName | 'trading_decision', Json>;
