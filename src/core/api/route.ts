import type * as v from 'valibot';
import type { Context, HandlerResult, Input, Rights } from './handler.ts';

/** The schema of a query, or of headers. */
export type Fields = v.ObjectSchema<v.ObjectEntries, undefined>;

/** The parts of the API; generated clients have a module for each. */
export type Tag = 'jobs' | 'results' | 'data' | 'agents' | 'service';

/** Who has sent a request, and what answers other routes in its place. */
export interface Caller {
  rights: Rights;
  /** The text that a route answers, made where a request for it is, until `end`. */
  call(route: Route, asked: Asked, end: AbortController): Promise<string>;
  /** What a client reads of an error; one that is unexpected goes to the log. */
  explain(error: unknown): string;
}

/** What a request says to a route; the query as in a URL. */
export interface Asked {
  params: Record<string, string>;
  query?: string;
  json?: unknown;
}

/** One endpoint: its method and path, its request, its response and its errors. */
export interface Route {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  /** Its name among the tools of the Model Context Protocol. */
  tool?: string;
  tag: Tag;
  summary: string;
  query?: Fields;
  body?: v.GenericSchema & { entries?: v.ObjectEntries };
  headers?: Fields;
  response: v.GenericSchema;
  /** Its own error statuses, with their conditions; those that every route can return are added. */
  errors?: Record<number, string>;
  /** Its error bodies lack the deployment fields, which those of all other routes have. */
  bareErrors?: true;
  /** Needs no access token. */
  isPublic?: true;
  /** Needs the token of a model-day, and takes no other. */
  isOfDay?: true;
  /**
   * Of a GET: whether the serving thread makes the response, because that takes little time. All
   * others are made in a reader thread.
   */
  isShort?(context: Context, input: Input): boolean;
  /** Of a GET: it reads the database as it is now, or not at all. */
  isDirect?: true;
  /** Of a GET: it reads only the database, and is kept while nothing in that changes. */
  isKept?: true;
  /** Whether it also responds in CSV, and has `format` in its query. */
  hasTable?: true;
  /** The long list of its answer, of which a tool shows what fits. */
  list?: string;
  /** How to ask for the rest, where no page follows. */
  rest?: string;
  /** How many records there are on all pages, or in an answer that ends when it is full. */
  count?(context: Context, input: Input): number;
  /**
   * Answers messages of JSON-RPC: takes any body, and every token, also in a view; what is refused
   * is an error of JSON-RPC too. It may call other routes.
   */
  isRpc?: true;
  /** A method, so that one with a more specific input can be assigned; `route` checks it. */
  handle(context: Context, input: Input, caller?: Caller): HandlerResult;
}

/** Error statuses that several routes have, with their conditions. */
export const BUSY = {
  503: 'Too many long responses are being sent; Retry-After says when to try again.',
};

export const NO_JOB = { 404: 'There is no such job.' };

export const MODEL_DAY_ERRORS = {
  400: 'The start date is after the end date.',
  ...NO_JOB,
  ...BUSY,
};

/** What is wrong with a field that is missing, after its name. */
export const REQUIRED = 'is required and cannot be null or empty';

export const BAD_BODY = {
  413: 'The body is too large.',
  415: 'The body is not declared as JSON.',
};

type Checked<Schema> = Schema extends v.GenericSchema ? v.InferOutput<Schema> : unknown;

/** A route whose handler receives what its schemas let through. */
export function route<
  Query extends Fields | undefined = undefined,
  Body extends Route['body'] = undefined,
  Headers extends Fields | undefined = undefined,
>(
  row: Omit<Route, 'query' | 'body' | 'headers' | 'count' | 'handle'> & {
    query?: Query;
    body?: Body;
    headers?: Headers;
    count?(context: Context, input: Input<Checked<Query>>): number;
    handle(
      context: Context,
      input: Input<Checked<Query>, Checked<Body>, Checked<Headers>>,
      caller?: Caller,
    ): HandlerResult;
  },
): Route {
  return row as Route;
}
