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
  'possible_dividend',
  'possible_end',
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

export const actionTypes = [
  'buy',
  'sell',
  'split',
  'dividend',
  'exchange',
  'received',
  'no_trade',
] as const;
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

/** Those that take orders, which carry out decisions too. */
export const orderTools = ['buy', 'sell', 'rebalance'] as const;
export type OrderTool = (typeof orderTools)[number];

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

export function listOutsideKinds(isAgent: boolean): (typeof outsideKinds)[number][] {
  return isAgent ? ['agent'] : [];
}

/** The first items of a list, and its full length. */
export interface Listed<Item> {
  total: number;
  first: Item[];
}
