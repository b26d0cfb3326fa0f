import { type Json, asObject, asText } from '../../json.ts';
import { MAX_SERVED_LENGTH, type Served } from '../../protocol.ts';
import { cutText } from '../../text.ts';

/** What a provider says of itself in a response: the model that served it, which an alias does not tell; null where it says nothing. */
export function readServed(body: Json): Served | null {
  const { model, id, system_fingerprint, provider } = body;
  const service_tier = body['service_tier'] ?? asObject(body['usage'])?.['service_tier'];
  const given = Object.entries({ model, id, system_fingerprint, service_tier, provider }).flatMap(([name, value]) => {
    const text = asText(value);
    return text === undefined ? [] : [[name, cutText(text, MAX_SERVED_LENGTH)] as const];
  });
  return given.length === 0 ? null : Object.fromEntries(given);
}
