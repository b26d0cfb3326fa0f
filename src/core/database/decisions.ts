import type { SQLInputValue } from 'node:sqlite';
import { cutText } from '#text/text.ts';
import type { Reader } from './database.ts';
import { integer, oneOf, orNull, reads, real, text, type ShapedRow } from './rows.ts';

/**
 * What models did on the model-days that they completed, as rows, which never change. They are
 * written in the transaction that commits a model-day, and keep only what its session, its
 * positions and its log do not say. Which of them count follows from the sessions as they are; so
 * do failures.
 */

/**
 * What a decision can be: an executed order, a refused one, a call that no tool takes as it is, a
 * model-day that failed, and one without a trade.
 */
export const decisionKinds = ['trade', 'refusal', 'malformed', 'failure', 'no_trade'] as const;
export const sides = ['buy', 'sell'] as const;
export type Side = (typeof sides)[number];

const COLUMNS = {
  message_index: orNull(integer),
  action_id: orNull(integer),
  side: orNull(oneOf(sides)),
  symbol: orNull(text),
  amount: orNull(real),
  detail: orNull(text),
  tool: orNull(text),
};
const NAMES = Object.keys(COLUMNS) as (keyof DecisionRow)[];

/** An order, a malformed call, or a day without a trade. */
export type DecisionRow = Readonly<ShapedRow<typeof COLUMNS>>;

/** A day without a trade. */
export const NO_TRADE: DecisionRow = {
  message_index: null,
  action_id: null,
  side: null,
  symbol: null,
  amount: null,
  detail: null,
  tool: null,
};

/** How much of a model's words, of a refusal or of an error a decision repeats. */
export const MAX_WORDS_LENGTH = 500;

export function cutWords(words: string): string {
  return cutText(words, MAX_WORDS_LENGTH).toWellFormed();
}

/** As they are stored: the last first. */
export function toRows(decisions: readonly DecisionRow[]): SQLInputValue[][] {
  return decisions.map((one) => NAMES.map((name) => one[name])).reverse();
}

/** Stores the decisions of a session within the transaction that commits it. */
export function storeDecisions(
  database: Reader,
  sessionId: number,
  decisions: readonly DecisionRow[],
): void {
  const insert = database.statement('INSERT INTO decisions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
  for (const [index, values] of toRows(decisions).entries())
    insert.run(sessionId, index + 1, ...values);
}

/** The decisions of a session in the form of `toRows`. */
export const storedDecisions = reads(
  'all',
  `SELECT ${NAMES.join(', ')} FROM decisions WHERE session_id = ? ORDER BY place`,
  Object.values(COLUMNS),
  (sessionId: number) => [sessionId],
);
