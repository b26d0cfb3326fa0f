import * as v from 'valibot';
import type { Clock } from '#time/calendar.ts';
import type { Database } from '#database/database.ts';
import type { JobQueue } from '#jobs/queue.ts';
import { type Log, silentLog } from '#process/log.ts';
import type { AgentDays } from '#trading/agent-days.ts';
import { deploymentFields, type ServedSettings } from '#settings/settings.ts';
import { type Cell, csvLine } from '#text/csv.ts';
import { asObject } from '#json/json.ts';
import { innerSchema, type Shape } from '#json/shape.ts';

/** What every handler works with. */
export interface Context {
  database: Database;
  settings: ServedSettings;
  clock: Clock;
  log: Log;
  /** Null in a view. */
  jobs: JobQueue | null;
  agentDays: AgentDays | null;
  /** The name of the file that a view shows; null in a service. */
  viewedFile: string | null;
  /** Whether that file cannot change while it is shown, so that pages need not ask again. */
  isFixed: boolean;
}

/** The part of a context that is the same wherever a response is made without its service. */
export const outsideService = {
  jobs: null,
  agentDays: null,
  log: silentLog,
  clock: () => new Date(),
};

/** A request whose query, body and headers fit their schemas. */
export interface Input<Query = unknown, Body = unknown, Headers = unknown> {
  params: Record<string, string>;
  query: Query;
  body: Body;
  /** The format that the client prefers where a route has both; otherwise JSON. */
  format: Format;
  headers: Headers;
  /** The token of a model-day; null without one, and on routes that take none. */
  token: string | null;
  /** Of an answer that is cut: whether it needs no more records. */
  isFull?(): boolean;
}

/** What a token may do; that of a model-day opens its day. */
export type Rights = 'everything' | 'reading' | 'day';

export type Format = 'json' | 'csv';

/** CSV for a file of this name, piece by piece. */
export interface CsvTable {
  fileName: string;
  lines: Iterable<string>;
}

/**
 * The body of a response with status 200, or 202 where it is empty: JSON text, whole or in pieces,
 * or a table. It is read from `Context.database` in one go, within one read transaction.
 */
export type ResponseBody = string | Iterable<string> | CsvTable;

/** What a handler returns; of a GET that is made in one go, a body. */
export type HandlerResult = ResponseBody | AsyncBody | Promise<ResponseBody | AsyncBody>;

/** Whether it is a body, made in one go. */
export function isReady(handled: HandlerResult): handled is ResponseBody {
  return typeof handled === 'string' || !(handled instanceof Promise || 'made' in handled);
}

/** The pieces of a body; of a table, also the name of its file. */
export function bodyPieces(body: ResponseBody) {
  if (typeof body === 'string') return { pieces: [body], fileName: null };
  return 'lines' in body
    ? { pieces: body.lines, fileName: body.fileName }
    : { pieces: body, fileName: null };
}

/** A body that is made elsewhere, or its beginning: bytes are UTF-8. */
export interface ByteBody {
  bytes: Uint8Array | AsyncIterable<Uint8Array>;
  /** Of a table. */
  fileName: string | null;
}

/** A response that is made elsewhere. */
export interface AsyncBody {
  /** Resolves when the response is made, or its beginning if it is long. */
  made: Promise<ByteBody>;
  /** Nothing is sent before the beginning of a table; before that of JSON: white space. */
  isTable: boolean;
  /** Aborted by `CLIENT_LEFT` when the response is over, by an error when it cannot be finished. */
  end: AbortController;
}

/** Abort reason of a response whose client has left or is done. */
export const CLIENT_LEFT = new Error('the client has left');

/** A JSON text that is made elsewhere. */
export function asyncText(text: Promise<string>, end: AbortController): AsyncBody {
  const made = text.then((json) => ({ bytes: Buffer.from(json), fileName: null }));
  return { made, isTable: false, end };
}

/** Records until the answer is full. */
export function* until<Item>(items: Iterable<Item>, isFull = () => false): Generator<Item> {
  for (const item of items) {
    if (isFull()) return;
    yield item;
  }
}

/** JSON with these members, and the fields that most responses have. */
export function jsonBody(settings: ServedSettings, members: object): string {
  return JSON.stringify({ ...members, ...deploymentFields(settings) });
}

/**
 * JSON with one long list, item by item; its count and, made last, further members follow, and the
 * fields that most responses have, except where `settings` is null.
 */
export function* listBody(
  settings: ServedSettings | null,
  name: string,
  items: Iterable<string>,
  others = () => ({}),
): Generator<string> {
  const count = yield* listMember(name, items, '{');
  const members = { count, ...others(), ...(settings && deploymentFields(settings)) };
  yield `,${JSON.stringify(members).slice(1)}`;
}

/**
 * A list as a member of a JSON object, item by item, after the text `before`; returns how many
 * items it has.
 */
export function* listMember(
  name: string,
  items: Iterable<string>,
  before = ',',
): Generator<string, number> {
  let count = 0;
  yield `${before}"${name}":[`;
  for (const item of items) yield count++ === 0 ? item : `,${item}`;
  yield ']';
  return count;
}

/** The JSON of an object, with further members added. */
export function appendMembers(objectJson: string, members: Record<string, unknown>): string {
  return `${objectJson.slice(0, -1)},${JSON.stringify(members).slice(1)}`;
}

/**
 * `format=csv` in the query has the effect of `Accept: text/csv`, for clients that cannot set
 * headers.
 */
export const formatQuery = {
  format: v.optional(
    v.pipe(
      v.picklist(['json', 'csv'], 'expected json or csv'),
      v.description('The format of the response; if absent, the Accept header decides.'),
    ),
  ),
};

/** A response as CSV (RFC 4180) with a header line; each row has a cell per column. */
export function csvTable(
  fileName: string,
  columns: readonly string[],
  rows: Iterable<readonly Cell[]>,
): CsvTable {
  return { fileName, lines: csvLines(columns, rows) };
}

type Row = Readonly<Record<string, unknown>>;

/** CSV table of objects; fields without a column are left out. */
export function objectTable<Column extends string>(
  fileName: string,
  columns: readonly Column[],
  rows: Iterable<Readonly<Record<Column, unknown>>>,
): CsvTable {
  const cells = Iterator.from(rows).map((row) =>
    columns.map((name) => (row[name] ?? null) as Cell),
  );
  return csvTable(fileName, columns, cells);
}

/**
 * The columns of objects in a response: a field within another is `usage_cost_usd`. Lists of
 * objects, and fields whose names are data, have none.
 */
export function schemaColumns(schema: Shape, name = ''): string[] {
  const { entries, item } = innerSchema(schema) ?? {};
  const inside = name && `${name}_`;
  if (entries)
    return Object.entries(entries).flatMap(([own, one]) => schemaColumns(one, inside + own));
  return schema.type === 'record' || innerSchema(item)?.entries ? [] : [name];
}

/** An object with the fields of those inside it, by the names of their columns; a list is text. */
export function flatten(object: object, before = ''): Row {
  const fields = Object.entries(object).map(([name, value]) =>
    asObject(value)
      ? flatten(value, `${before}${name}_`)
      : { [before + name]: Array.isArray(value) ? value.join('; ') : value },
  );
  return Object.assign({}, ...fields);
}

function* csvLines(columns: readonly string[], rows: Iterable<readonly Cell[]>): Generator<string> {
  yield csvLine(columns);
  for (const row of rows) yield csvLine(row);
}
