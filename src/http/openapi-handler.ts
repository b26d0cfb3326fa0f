import * as v from 'valibot';
import type { Context } from '../handlers/handler.ts';

/** An OpenAPI document; OpenAPI defines its parts. */
export const openapiResponse = v.pipe(v.record(v.string(), v.unknown()), v.title('InterfaceDescription'));

let text: Promise<string> | undefined;

/** The interface description, made at the first request: most services never send it. */
export function openapi({ interfaceDescription }: Context): Promise<string> {
  return (text ??= interfaceDescription());
}
