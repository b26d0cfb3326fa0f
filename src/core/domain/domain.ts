/**
 * The words of the service as types: one word, one meaning, the same in table, type, route and
 * test.
 */

export const jobStatuses = [
  'pending',
  'downloading_data',
  'running',
  'completed',
  'partial',
  'failed',
  'cancelled',
  'discarded',
] as const;
export type JobStatus = (typeof jobStatuses)[number];

export const modelDayStatuses = ['pending', 'running', 'completed', 'failed', 'skipped'] as const;
export type ModelDayStatus = (typeof modelDayStatuses)[number];

/**
 * Why a model-day is not run; the first that applies, in this order. `cancelled` only after a
 * cancellation.
 */
export const skipReasons = {
  alreadyCompleted: 'Already completed',
  beforeResumeDate: "Before the model's resume date",
  noPriceData: 'No price data',
  cancelled: 'Cancelled',
} as const;

/** What programs tell warnings apart by. */
export const warningCodes = [
  'mixed_prices',
  'not_out_yet',
  'possible_split',
  'unread',
  'refused_answers',
  'written_calls',
  'unknown_dividends',
] as const;

/** A sentence, and for programs its code, if it has one, and what else it is `about`. */
export interface Warning {
  message: string;
  code: (typeof warningCodes)[number] | null;
  about?: readonly string[];
}

/** A mere sentence is a warning without a code. */
export function asWarning(warning: string | Warning): Warning {
  return typeof warning === 'string' ? { message: warning, code: null } : warning;
}

/**
 * What is wrong with an answer: the provider cut it off, the model or the provider refused, or its
 * calls are written as text.
 */
export const answerFaults = ['cut_off', 'refused', 'written_call'] as const;
export type AnswerFault = (typeof answerFaults)[number];

/** In DEV models are simulated, and nothing is paid for. */
export const deploymentModes = ['DEV', 'PROD'] as const;
export type DeploymentMode = (typeof deploymentModes)[number];

/**
 * A trading session: one attempt at a model-day. `active`: its positions count. `superseded`: they
 * counted until a replacement was committed or their job was discarded. `failed`: it has no
 * positions. `opening`: in a file with one job, the close of a day of another job, from which a
 * chain continues; it counts nowhere.
 */
export const sessionStatuses = ['running', 'active', 'superseded', 'failed', 'opening'] as const;

export const actionTypes = ['buy', 'sell', 'split', 'dividend', 'no_trade'] as const;
export type ActionType = (typeof actionTypes)[number];

/** The tools, in the order in which models read them. */
export const toolNames = [
  'buy',
  'sell',
  'rebalance',
  'get_price',
  'get_price_history',
  'get_portfolio',
  'calculate',
  'search_news',
  'list_documents',
  'read_document',
  'write_note',
] as const;

export const messageRoles = ['system', 'user', 'assistant', 'tool'] as const;
export type MessageRole = (typeof messageRoles)[number];

/**
 * Rules that trade like a model, at no cost. An entry's `basemodel` selects one as
 * `baseline/<strategy>`.
 */
export const baselineStrategies = [
  'buy-and-hold',
  'equal-weight',
  'momentum',
  'random',
  'cash',
] as const;
export type BaselineStrategy = (typeof baselineStrategies)[number];

/** The ways in which a model is asked over HTTP: Chat Completions, Responses, Messages. */
export const apiDialects = ['chat', 'responses', 'messages'] as const;
export type ApiDialect = (typeof apiDialects)[number];
/** What an entry may name as its `api`: a dialect of models, or an agent of the user's. */
export const entryApis = [...apiDialects, 'agent'] as const;
export type EntryApi = (typeof entryApis)[number];

/** How much a model thinks, in the words of OpenAI and Anthropic. */
export const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type Effort = (typeof efforts)[number];

/** What is beyond the control of the service: an agent has a network of its own. */
export const outsideKinds = ['agent'] as const;

export function outsideOf(isAgent: boolean): (typeof outsideKinds)[number][] {
  return isAgent ? ['agent'] : [];
}

/** The first items of a list, and its full length. */
export interface Listed<Item> {
  total: number;
  first: Item[];
}

/** What happened, as far as callers distinguish it; src/core/http/errors.ts maps it to a status. */
export type ErrorCode =
  | 'invalid_dates'
  | 'nothing_to_resume'
  | 'invalid_filter'
  | 'no_models'
  | 'invalid_models'
  | 'unknown_universe'
  | 'another_job_unfinished'
  | 'key_reused'
  | 'job_not_found'
  | 'document_not_found'
  | 'job_conflict'
  | 'day_decided'
  | 'day_interrupted'
  | 'no_such_day'
  | 'no_sessions'
  | 'no_prices'
  | 'invalid_file'
  | 'broken_configuration'
  | 'protocol_violation'
  | 'service_unavailable'
  | 'cannot_start'
  | 'storage_fault';

/**
 * An error whose message is meant for the caller. Any other error is a bug, and the caller gets
 * only a reference to the log.
 */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ServiceError';
    this.code = code;
  }
}

/** The refusal of a value in the query of a request. */
export function invalidFilter(name: string, problem: string): ServiceError {
  return new ServiceError('invalid_filter', `${name}: ${problem}`);
}

/** What was thrown, as one line of text. Of a file that is missing callers name the path. */
export function messageOf(thrown: unknown): string {
  if (codeOf(thrown) === 'ENOENT') return 'there is no such file or folder';
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/**
 * The error of a command that cannot do something: the one that was thrown, if that says so
 * itself; any other is its cause.
 */
export function cannot(what: string, thrown: unknown, why = messageOf(thrown)): ServiceError {
  return thrown instanceof ServiceError
    ? thrown
    : new ServiceError('cannot_start', `Cannot ${what}: ${why}`, { cause: thrown });
}

/** The code of a system error, such as `ENOENT`; undefined for anything else. */
export function codeOf(thrown: unknown): unknown {
  return thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
}

/**
 * Ticker symbols as the world's exchanges write them: `AAPL`, `BRK-B`, `600519.SH`. Upper case, at
 * most 20 characters.
 */
export const SYMBOL_PATTERN = /^[A-Z0-9^][A-Z0-9.^=-]{0,19}$/;

/** The same in either case, with spaces at the ends, as people and programs write it. */
export const SYMBOL_TEXT = /^\s*[A-Za-z0-9^][A-Za-z0-9.^=-]{0,19}\s*$/;

/** The symbol in its stored form, or null when the text cannot be one. */
export function normaliseSymbol(text: string): string | null {
  return SYMBOL_TEXT.test(text) ? text.trim().toUpperCase() : null;
}
