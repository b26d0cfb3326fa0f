import * as v from 'valibot';
import type { AgentConfiguration } from './configuration-schema.ts';
import { universeKey } from './members.ts';
import { sha256 } from '#text/hash.ts';
import { costKeys, rulesOf } from '#domain/market-rules.ts';
import { entryApis } from '#domain/vocabulary.ts';
import { asArray, asObject, type Json, tryParse } from '#json/json.ts';
import { recordSchema } from '#json/records.ts';
import { HIDDEN, secretHider } from '#text/secrets.ts';

/**
 * What ran: a model's entry as the trigger resolved it, stored with each simulation run. A job runs
 * from it, whatever becomes of the configuration file meanwhile. It holds no secret: where a key is
 * found is in it, the key is not.
 */

const entryKinds = ['provider', 'agent', 'simulated', 'baseline', 'unlisted'] as const;
const keySources = ['entry', 'variable', 'maker', 'service'] as const;

const count = v.pipe(v.number(), v.integer(), v.minValue(1));
const dollars = v.pipe(v.number(), v.minValue(0));

export const entrySchema = v.pipe(
  v.object({
    signature: v.string(),
    run: count,
    repeats: count,
    kind: v.pipe(v.picklist(entryKinds), v.title('EntryKind')),
    basemodel: v.string(),
    url: v.nullable(v.string()),
    api: v.nullable(v.pipe(v.picklist(entryApis), v.title('ApiDialect'))),
    stream: v.nullable(v.boolean()),
    stream_is_set: v.boolean(),
    url_is_cut: v.boolean(),
    key_source: v.nullable(v.pipe(v.picklist(keySources), v.title('KeySource'))),
    key_variable: v.nullable(v.string()),
    parameters: v.pipe(recordSchema(v.unknown()), v.title('RequestParameters')),
    prompt: v.nullable(v.string()),
    notes: v.boolean(),
    knowledge_cutoff: v.nullable(v.string()),
    price_per_million_tokens: v.nullable(
      v.pipe(
        v.object({
          input: dollars,
          output: dollars,
          cached_input: v.nullish(dollars),
          cache_write: v.nullish(dollars),
        }),
        v.title('TokenPrices'),
      ),
    ),
    max_cost_usd: v.nullable(dollars),
    tools: v.array(v.string()),
    documents: v.optional(v.boolean()),
    decision: v.picklist(['tools', 'one_answer']),
    agent: v.nullable(
      v.pipe(v.object({ max_tool_calls: count, seconds: v.number() }), v.title('AgentLimits')),
    ),
  }),
  v.title('Entry'),
);

export type Entry = v.InferOutput<typeof entrySchema>;

/** An entry as text: keys sorted, so that equal entries are equal texts. */
export function encodeEntry(entry: Entry): string {
  return canonicalJson(entry);
}

/** An entry as it was stored. */
export function decodeEntry(stored: string): Entry {
  return v.parse(entrySchema, tryParse(stored));
}

/**
 * What a job's agent configuration adds to what can change what a model does, beside its universe.
 */
const TERMS = [...costKeys, 'max_steps', 'dividends', 'open', 'limits'] as const;
type Terms = Pick<
  AgentConfiguration,
  'stock_symbols' | 'members' | 'market' | (typeof TERMS)[number]
>;

/**
 * A hash of what can change what a model does. Two model-days of a family with different hashes
 * were asked in two ways. URL, key, `seed`, repeats, prices, cost limits and the knowledge cutoff
 * are not part of it.
 */
export function requestHash(entry: Entry | null, terms: Terms): string {
  const { seed: _seed, ...parameters } = entry?.parameters ?? {};
  const asked = entry && {
    kind: entry.kind,
    api: entry.api,
    basemodel: entry.basemodel,
    parameters,
    prompt: entry.prompt,
    notes: entry.notes,
    tools: [...entry.tools].sort(),
    decision: entry.decision,
    agent: entry.agent,
  };
  const universe = universeKey(terms);
  const others = Object.fromEntries(TERMS.map((name) => [name, terms[name]]));
  const market = rulesOf(terms.market);
  return sha256(canonicalJson({ asked, universe, market, ...others })).toString('hex');
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, part) => {
    const object = asObject(part);
    return object === undefined
      ? part
      : Object.fromEntries(Object.entries(object).sort(([one], [other]) => (one < other ? -1 : 1)));
  });
}

/**
 * Names of fields that hold a secret, in small letters without signs; `x-api-key` and
 * `openaiApiKey` end in `apikey`. The last ones are names only as a whole: `stop_token` and
 * `prompt_cache_key` hold none.
 */
const SECRET_NAME = new RegExp(
  [
    '(api|access|secret|private|signing|encryption|subscription|account)key$',
    '(access|api|auth|bearer|refresh|session|security)token$',
    '(authorization|secret|password|passwd|passphrase|credentials?)$',
    '^(token|auth|bearer|cookie)$',
  ].join('|'),
);

/** Whether a field or variable of that name holds a secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name.toLowerCase().replace(/[^a-z0-9]/g, ''));
}

/** Whether a text is a known key, or holds one as in `Bearer KEY`. */
export type IsKey = (text: string) => boolean;

export function keyFinder(keys: ReadonlySet<string>): IsKey {
  const hide = secretHider([...keys]);
  return (text) => keys.has(text.trim()) || hide(text) !== text;
}

/**
 * A request's fields without secrets, at any depth: all text in or below a secret field is blank, a
 * known key elsewhere is marked.
 */
export function blankSecrets(fields: Json, isKey: IsKey): Json {
  return mapFields(fields, (path, value) => {
    if (typeof value !== 'string') return value;
    return path.some(isSecretName) ? '' : isKey(value) ? HIDDEN : value;
  });
}

/**
 * Fields that were blanked, with their secrets from other fields of the same shape. `missing` names
 * those that have none.
 */
export function fillSecrets(
  fields: Json,
  from: Json,
): { fields: Json; secrets: string[]; missing: string[] } {
  const missing: string[] = [];
  const secrets: string[] = [];
  const filled = mapFields(fields, (path, value) => {
    const isBlanked = value === HIDDEN || (value === '' && path.some(isSecretName));
    if (!isBlanked) return value;
    const found = path.reduce<unknown>(
      (whole, key) => asArray(whole)?.[Number(key)] ?? asObject(whole)?.[key],
      from,
    );
    if (typeof found === 'string') secrets.push(found);
    else missing.push(path.join('.'));
    return found ?? value;
  });
  return { fields: filled, secrets, missing };
}

/** A copy in which `field` replaces every value except objects and arrays. */
export function mapFields<Value>(
  fields: Value,
  field: (path: readonly string[], value: unknown) => unknown,
): Value {
  const visit = (value: unknown, path: readonly string[]): unknown => {
    const object = asObject(value);
    if (object !== undefined)
      return Object.fromEntries(
        Object.entries(object).map(([name, part]) => [name, visit(part, [...path, name])]),
      );
    const list = asArray(value);
    if (list !== undefined) return list.map((part, index) => visit(part, [...path, String(index)]));
    return field(path, value);
  };
  return visit(fields, []) as Value;
}
