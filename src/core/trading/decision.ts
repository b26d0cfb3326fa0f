import * as v from 'valibot';
import { asObject, repeatedName, tryParse } from '#json/json.ts';
import { fits } from '#text/text.ts';
import type { Entry } from '#settings/entry.ts';
import type { AgentTerms, Answer, Outcome, ToolCall } from '#wire/protocol.ts';
import { fraction, orderEntries, quoteArgument, weightsSchema } from './tool-arguments.ts';

/**
 * A day in one answer: orders one after another, or target shares of the whole portfolio. Each is
 * carried out by calls of tools.
 */

const MAX_DECISION_ORDERS = 1_000;
export const MAX_DECISION_REASON_LENGTH = 20_000;

const side = v.picklist(['buy', 'sell'], 'must be buy or sell');
const reasonMessage = `must be text of at most ${MAX_DECISION_REASON_LENGTH} characters`;
const reasonText = v.pipe(
  v.string(reasonMessage),
  v.check((text) => fits(text, MAX_DECISION_REASON_LENGTH), reasonMessage),
  v.description('Why, for readers'),
);

/** What models and agents answer. Of `orders` and `weights` it has exactly one. */
export const tradingDecision = v.pipe(
  v.strictObject({
    orders: v.nullish(
      v.pipe(
        v.array(
          v.pipe(v.strictObject({ side, ...orderEntries }), v.title('DecisionOrder')),
          'must be a list of orders',
        ),
        v.maxLength(MAX_DECISION_ORDERS, `must be at most ${MAX_DECISION_ORDERS} orders`),
        v.description('One after another; empty to keep everything as it is'),
      ),
    ),
    weights: v.nullish(weightsSchema),
    reason: reasonText,
    confidence: v.nullish(fraction),
  }),
  v.title('TradingDecision'),
);

/** What an agent answers that has traded through the tools of the day. */
const doneSchema = v.strictObject({ done: v.literal(true, 'must be true'), reason: reasonText });

/** Who ends a day by a decision: a model that is asked once, or an agent. */
export type Decider = { by: 'one_answer' } | Omit<AgentTerms, 'universe'>;

/** Null for an entry that trades by calls of tools until it stops. `run` is the name of its run. */
export function resolveDecider(
  { agent, decision, signature }: Pick<Entry, 'agent' | 'decision' | 'signature'>,
  run: string,
): Decider | null {
  if (agent === null) return decision === 'one_answer' ? { by: decision } : null;
  const { max_tool_calls: maxToolCalls, seconds } = agent;
  return { by: 'agent', signature, run, maxToolCalls, seconds };
}

/** A decision as calls of tools; or why an answer is none, in sentences. */
type ReadDecision =
  | { calls: ToolCall[]; reason: string; confidence: number | null; problem?: never }
  | { problem: string };

/** Reads a decision that is the whole of a text, or in its only code fence. */
export function readDecision(text: string, by: Decider['by']): ReadDecision {
  const source = tryParse(text) === undefined ? extractCodeFence(text) : text;
  const json = tryParse(source);
  if (Array.isArray(json)) return { problem: 'It is not an object.' };
  if (json === undefined)
    return { problem: 'It is not a JSON object, nor has it one in its only code fence.' };
  const repeated = repeatedName(source);
  if (repeated !== undefined) return { problem: `${quoteArgument(repeated)} is named twice.` };
  if (by === 'agent' && asObject(json)?.['done'] !== undefined) {
    const done = v.safeParse(doneSchema, json);
    return done.success
      ? { calls: [], reason: done.output.reason, confidence: null }
      : { problem: describeIssues(done.issues) };
  }
  const { success, output, issues } = v.safeParse(tradingDecision, json);
  if (!success) return { problem: describeIssues(issues) };
  const { orders, weights, confidence = null } = output;
  const answer = { reason: output.reason, confidence };
  const call = (name: string, index: number, args: object): ToolCall => {
    return { id: `decision-${index + 1}`, name, arguments: JSON.stringify(args) };
  };
  if (orders != null && weights == null)
    return {
      calls: orders.map(({ side: name, ...order }, index) => call(name, index, order)),
      ...answer,
    };
  if (weights != null && orders == null)
    return { calls: [call('rebalance', 0, { weights, sell_rest: true })], ...answer };
  return { problem: 'It must have exactly one of orders and weights.' };
}

/** What is in the only code fence of a text; empty without one, and with several. */
function extractCodeFence(text: string): string {
  const parts = text.split('```', 5);
  const isOnly = parts.length === 3 || parts.length === 4; // with a fourth, another is not closed
  return isOnly ? (parts[1] ?? '').replace(/^[^\n`]*\n?/, '') : '';
}

/** More problems than these help no one. */
const MAX_PROBLEMS = 5;

function describeIssues(issues: readonly v.BaseIssue<unknown>[]): string {
  const sentences = issues.slice(0, MAX_PROBLEMS).map((issue) => {
    const path = v.getDotPath(issue);
    if (path === null) return 'It is not an object.';
    if (issue.type !== 'strict_object') return `${path} ${issue.message}.`;
    return issue.expected === 'never'
      ? `There is no field ${quoteArgument(path)}.`
      : `${path} is missing.`;
  });
  return [...new Set(sentences)].join(' ');
}

/** What becomes of an answer that is to be a decision. */
export interface DecisionResult {
  calls: ToolCall[];
  confidence: number | null;
  /** Whether the day ends although no answer was a decision. */
  isUnread?: true;
  /** What the model reads before its second chance. */
  again?: string;
  end?: Outcome;
}

/**
 * Reads an answer that is to be a decision; null for one that is not: a call of an agent has no
 * words. Half a decision is none, and fails the day. A model whose first answer is none has a
 * second chance; an agent fails the day.
 */
export function decide(
  decider: Decider | null,
  { content, fault }: Pick<Answer, 'content' | 'fault'>,
  isFirst: boolean,
): DecisionResult | null {
  if (decider === null || (decider.by === 'agent' && content === '')) return null;
  const { by } = decider;
  const nothing = { calls: [], confidence: null };
  const failed = (error: string): DecisionResult => ({
    ...nothing,
    end: { status: 'failed', error },
  });
  if (fault === 'cut_off') return failed('Its answer was cut off, and half a decision is none');
  const read = fault === 'refused' ? { problem: 'It is a refusal.' } : readDecision(content, by);
  const { problem } = read;
  if (problem === undefined) {
    const { calls, reason: summary, confidence } = read;
    return { calls, confidence, end: { status: 'finished', summary } };
  }
  if (by === 'agent') return failed(`Its answer is not a decision. ${problem}`);
  if (isFirst)
    return {
      ...nothing,
      again: `That is not a decision. ${problem} Answer once more, with the JSON object and nothing else.`,
    };
  const summary = `No answer could be read: ${problem}`;
  return { ...nothing, isUnread: true, end: { status: 'finished', summary } };
}
