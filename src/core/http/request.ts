import type { IncomingMessage } from 'node:http';
import * as v from 'valibot';
import { type Fields, REQUIRED } from '#api/route.ts';
import { HttpError } from './errors.ts';
import type { HttpLimits } from './limits.ts';
import { asObject, repeatedName } from '#json/json.ts';
import { hint } from '#text/sentences.ts';

/** The target of a request: its path and query, still percent-encoded, and its host. */
export interface Target {
  path: string;
  query: string;
  /** From the target when that is a whole URL, otherwise from the Host header. */
  host: string;
}

/** Reads the request target, which may be a whole URL (RFC 9112, 3.2.2). */
export function readTarget({
  url = '',
  headers,
}: Pick<IncomingMessage, 'url' | 'headers'>): Target {
  const { host = '' } = headers;
  if (url.startsWith('/')) return splitAtQuery(url, host);
  const [, authority = host, rest = url] = /^https?:\/\/([^/?#]*)(.*)$/i.exec(url) ?? [];
  return splitAtQuery(rest === '' || rest.startsWith('?') ? `/${rest}` : rest, authority);
}

/** Whether it has no fragment, which only browsers use, and its percent-encoding can be decoded. */
export function isReadable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return !text.includes('#');
  } catch {
    return false;
  }
}

function splitAtQuery(text: string, host: string): Target {
  const [, path = '', query = ''] = /^([^?]*)\??(.*)$/s.exec(text) ?? [];
  return { path, query, host };
}

/**
 * Refuses ambiguous messages, which a proxy might read differently: request smuggling relies on
 * that. Node's parser already refuses the cruder ones. Throws an `HttpError`; most of these close
 * the connection.
 */
export function checkMessage(
  request: IncomingMessage,
  { maxHeaders, maxTargetLength }: HttpLimits,
): void {
  const { httpVersion, rawHeaders, headers, url = '' } = request;
  if (httpVersion !== '1.1' && httpVersion !== '1.0')
    throw ambiguousError(`Cannot read the request: HTTP/${httpVersion} is not supported`);
  if (rawHeaders.length > 2 * maxHeaders)
    throw new HttpError(431, `Cannot read the request: it has more than ${maxHeaders} headers`, {
      closesConnection: true,
    });
  if (url.length > maxTargetLength)
    throw new HttpError(
      414,
      `Cannot read the request target: it is longer than ${maxTargetLength} characters`,
    );
  if (/^https?:\/\/([/?#]|$|[^/?#]*@)/i.test(url))
    throw ambiguousError(
      'Cannot read the request target: it names no host, or a user before the host',
    );
  const hosts = request.headersDistinct['host']?.length ?? 0;
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1'))
    throw ambiguousError(`Cannot read the request: expected one Host header, got ${hosts}`);
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && (httpVersion === '1.0' || coding.toLowerCase() !== 'chunked'))
    throw ambiguousError(
      'Cannot read the body: its Transfer-Encoding must be chunked, in HTTP/1.1',
    );
}

function ambiguousError(message: string): HttpError {
  return new HttpError(400, message, { closesConnection: true });
}

/**
 * Reads a JSON body. Throws an `HttpError` for another content type, for more bytes, for text that
 * is not JSON, and for a name that an object has twice.
 */
export async function readJsonBody(
  request: IncomingMessage,
  { maxBodyBytes }: HttpLimits,
): Promise<unknown> {
  checkContentType(request);
  if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes)
    throw bodyTooLarge(maxBodyBytes);
  const { json, body } = parse(await readBytes(request, maxBodyBytes));
  const repeated = repeatedName(json);
  if (repeated !== undefined) refuseRepeated([shorten(repeated)]);
  return body;
}

function parse(bytes: Buffer): { json: string; body: unknown } {
  try {
    const json = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return { json, body: JSON.parse(json) };
  } catch {
    throw new HttpError(400, 'Cannot read the body: it is not valid JSON in UTF-8');
  }
}

/**
 * A page of another origin can send a form or plain text without a preflight request, but not JSON.
 */
function checkContentType({ headers }: IncomingMessage): void {
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') {
    throw new HttpError(
      415,
      `Cannot read the body: its Content-Type must be application/json, got ${type === undefined ? 'none' : shorten(type)}`,
    );
  }
  const coding = headers['content-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'identity')
    throw new HttpError(
      415,
      `Cannot read the body: it must not be compressed, got Content-Encoding ${shorten(coding)}`,
    );
}

function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBytes) reject(bodyTooLarge(maxBytes));
    else chunks.push(chunk);
  });
  request.on('end', () => resolve(Buffer.concat(chunks)));
  request.on('error', reject);
  return promise;
}

function bodyTooLarge(maxBytes: number): HttpError {
  return new HttpError(413, `Cannot read the body: it is larger than ${maxBytes} bytes`);
}

/**
 * Problems listed in one response: the client controls how many there are, and no one reads more at
 * once.
 */
const MAX_LISTED_PROBLEMS = 20;
/** How much of a name or a value an error repeats. */
const MAX_SHOWN = 100;
/** The query or the headers of a route: texts, each checked and read by its schema. */

/** Fields of older versions of the interface, with their replacements. */
const RETIRED_FIELDS = new Map([
  ['date_range', 'this field is no longer accepted; use start_date and end_date'],
  ['config_path', 'this field is no longer accepted; the service chooses its own configuration'],
]);

/** Checks a JSON body. Throws a 422 with one sentence per problem, the field first. */
export function validateBody<Schema extends v.GenericSchema>(
  schema: Schema,
  body: unknown,
): v.InferOutput<Schema> {
  if (asObject(body) === undefined) throw new HttpError(422, 'body: expected a JSON object');
  return validate(schema, body);
}

/** The query of a route that takes no parameters. */
const noQuery = v.object({});

/**
 * Checks the parameters of a query string. An empty value counts as absent, but of `study`, where
 * it is the study without a name. Throws for a parameter
 * that is given twice, because it is ambiguous, and for one that the route does not have, because
 * ignoring a misspelt filter would give wrong figures.
 */
export function validateQuery<Schema extends Fields>(
  schema: Schema | undefined,
  query: string,
): v.InferOutput<Schema> {
  const given = [...new URLSearchParams(query)].filter(
    ([name, value]) => value !== '' || name === 'study',
  );
  const names = fieldNames(schema ?? noQuery);
  const unknown = given.find(([name]) => !names.includes(name));
  if (unknown !== undefined) throw unknownParameter(unknown[0], names);
  refuseRepeated(names.filter((name) => given.filter((pair) => pair[0] === name).length > 1));
  return validate(schema ?? noQuery, Object.fromEntries(given));
}

function unknownParameter(name: string, known: readonly string[]): HttpError {
  const those = known.length === 0 ? 'takes none' : `takes ${known.join(', ')}`;
  return new HttpError(422, `${shorten(name)}: unknown query parameter; this path ${those}`);
}

/** Checks the headers that a route uses. A known one given twice is refused. */
export function validateHeaders<Schema extends Fields>(
  schema: Schema,
  headers: NodeJS.Dict<string[]>,
): v.InferOutput<Schema> {
  const given = fieldNames(schema).map((name) => [name, headers[name.toLowerCase()]] as const);
  const repeated = given.filter(([, values]) => values !== undefined && values.length > 1);
  refuseRepeated(repeated.map(([name]) => name));
  return validate(
    schema,
    Object.fromEntries(given.flatMap(([name, values]) => (values ? [[name, values[0]]] : []))),
  );
}

function fieldNames({ entries }: Fields): string[] {
  return Object.keys(entries);
}

function refuseRepeated(names: readonly string[]): void {
  if (names.length > 0)
    throw new HttpError(422, names.map((name) => `${name}: given more than once`).join('; '));
}

function validate<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, value, { abortPipeEarly: true });
  if (result.success) return result.output;
  const known: object = 'entries' in schema ? Object(schema.entries) : {};
  const unknown = Object.keys(Object(value)).filter((name) => !Object.hasOwn(known, name));
  // Of unknown fields Valibot reports only the first.
  const sentences = result.issues.flatMap((issue) =>
    issue.expected === 'never'
      ? unknown.map((name, place) =>
          place < MAX_LISTED_PROBLEMS ? describeUnknown(name, known) : '',
        )
      : describeIssue(issue),
  );
  const more = sentences.splice(MAX_LISTED_PROBLEMS).length;
  throw new HttpError(422, [...sentences, ...(more > 0 ? [`and ${more} more`] : [])].join('; '));
}

function describeUnknown(name: string, known: object): string {
  const problem = RETIRED_FIELDS.get(name) ?? `unknown field${hint(name, Object.keys(known))}`;
  return `${shorten(name)}: ${problem}`;
}

function describeIssue(issue: v.BaseIssue<unknown>): string {
  const field = issuePath(issue);
  const isAbsent = issue.type === 'object' && issue.path !== undefined; // a parameter that a query must have
  const isMissing = issue.type === 'strict_object' || isAbsent || issue.message === REQUIRED;
  return isMissing ? `${field} ${REQUIRED}` : `${field}: ${issue.message}`;
}

/** `models[2]`; shortened, because the client controls the names of unknown fields. */
function issuePath(issue: v.BaseIssue<unknown>): string {
  const keys = issue.path?.map(({ key }) =>
    typeof key === 'number' ? `[${key}]` : String(key),
  ) ?? ['body'];
  return shorten(keys.join(''));
}

function shorten(text: string): string {
  return text.slice(0, MAX_SHOWN);
}
