import * as v from 'valibot';
import type { Context } from '../handlers/handler.ts';

/** An OpenAPI document; what it says of each part is for OpenAPI to define. */
export const openapiResponse = v.pipe(v.record(v.string(), v.unknown()), v.title('InterfaceDescription'));

let text: Promise<string> | undefined;

/** The interface description, made at the first request: most services are never asked for it. */
export function openapi({ interfaceDescription }: Context): Promise<string> {
  return (text ??= interfaceDescription());
}
