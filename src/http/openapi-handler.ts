import * as v from 'valibot';
import type { Context } from '../api/handler.ts';

/** An OpenAPI document; OpenAPI defines its parts. */
export const openapiResponse = v.pipe(
  v.record(v.string(), v.unknown()),
  v.title('InterfaceDescription'),
);

const made = new WeakMap<Context['interfaceDescription'], Promise<string>>();

/** The interface description, made at the first request: most services never send it. */
export function openapi({ interfaceDescription }: Context): Promise<string> {
  const text = made.get(interfaceDescription) ?? interfaceDescription();
  made.set(interfaceDescription, text);
  return text;
}
