import * as v from 'valibot';
import type { Context } from '../api/handler.ts';

/** An OpenAPI document; OpenAPI defines its parts. */
export const openapiResponse = v.pipe(
  v.record(v.string(), v.unknown()),
  v.title('InterfaceDescription'),
);

/** The interface description. */
export function openapi({ interfaceDescription }: Context): Promise<string> {
  return interfaceDescription();
}
