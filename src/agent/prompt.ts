import { limitsInWords } from '../basics/sentences.ts';
import type { Brief } from '../wire/protocol.ts';
import type { ChatMessage } from './model.ts';

const SYSTEM_PROMPT = `You are a stock trader with a simulated account. Each trading day you get the portfolio and the prices of the
morning and decide what to buy and sell, so that the account grows over the weeks.

Rules:
- Orders are for whole shares and fill at today's opening price. There is no borrowing and no short selling.
- Only the listed symbols can be bought. Whatever is held can be sold.
- Use the tools to look things up and to trade. Several calls in one message run one after another, in their
  order; each sees the cash and the holdings that the one before it left.
- A refused order says why and changes nothing.
- Nothing after this morning is known. Do not guess today's close.
- When you are done for the day, answer without a tool call: a short summary of what you did and why.`;

/** The sentences of the prompt that a hidden open changes. */
const FILLS_TODAY = "Orders are for whole shares and fill at today's opening price.";
const FILLS_LATER =
  'Orders are for whole shares. They fill at the next open, which is not known yet: all sales first, then all purchases.';

function systemPrompt({ isOpenHidden, limits }: Brief): string {
  const prompt = isOpenHidden ? SYSTEM_PROMPT.replace(FILLS_TODAY, FILLS_LATER) : SYSTEM_PROMPT;
  return limits
    ? prompt.replace(
        '\n- A refused',
        `\n- Limits on orders: ${limitsInWords(limits)}.\n- A refused`,
      )
    : prompt;
}

/** The heading of an entry's own prompt, which follows the prompt that all models have. */
const INSTRUCTIONS = 'Further instructions:';

/** What a conversation has before the model's first answer. */
type FirstMessages = (ChatMessage & { role: 'system' | 'user' })[];

/**
 * The parts of a conversation that neither a model nor a tool writes, in one version of the
 * wording.
 */
interface Words {
  /** `prompt` is the entry's own; null without one. */
  firstMessages(brief: Brief, prompt: string | null): FirstMessages;
  /** The summary of a day that its model ended with an answer. */
  summary(answer: { content: string; note: string | null }): string;
  /** The summary of a day that ended after the last step allowed. */
  stepLimit(maxSteps: number): string;
}

const first: Words = {
  firstMessages: (brief, prompt) => [
    {
      role: 'system',
      content: [
        systemPrompt(brief),
        ...(prompt === null ? [] : [`${INSTRUCTIONS}\n${prompt}`]),
      ].join('\n\n'),
    },
    { role: 'user', content: morningReport(brief) },
  ],
  summary: ({ content, note }) => (note === null ? content : `${content}\n\n${note}`.trim()),
  stepLimit: (maxSteps) => `Reached the limit of ${maxSteps} steps; the day ended there.`,
};

const words: Record<Wording, Words> = { 1: first };

/** The words of a version of the wording. */
export function wordsOf(wording: Wording = WORDING): Words {
  return words[wording];
}

/**
 * The first messages of every conversation. They are made only from the brief and the entry's
 * prompt, so they reveal nothing that the model must not know.
 */
export function firstMessages(
  brief: Brief,
  prompt: string | null = null,
  wording: Wording = WORDING,
): FirstMessages {
  return wordsOf(wording).firstMessages(brief, prompt);
}

function morningReport({
  date,
  cash,
  portfolioValue,
  holdings,
  dividends = [],
  quotes,
  costs,
  note,
  isOpenHidden,
  unfilled = [],
  left = [],
  documents = [],
}: Brief): string {
  const held = holdings.map(
    ({ symbol, quantity, price }) => `${symbol}: ${quantity} shares at ${price}`,
  );
  const paid = dividends.map(
    ({ symbol, exDate, shares, cashPerShare, cash: received }) =>
      `${symbol}: ${received}, which is ${cashPerShare} on each of ${shares} shares (ex-date ${exDate})`,
  );
  const prices = quotes.map(({ symbol, previousClose, open }) => {
    const known = isOpenHidden ? [previousClose] : [previousClose, open];
    return [symbol, ...known.map((price) => price ?? '-')].join(' ');
  });
  const [at, columns] = isOpenHidden
    ? ['previous closes', 'previous close']
    : ["today's open", 'previous close, open today'];
  return [
    `Today's date: ${date}`,
    '',
    `Cash: ${cash}`,
    `Portfolio value at ${at}: ${portfolioValue}`,
    held.length === 0 ? 'Holdings: none' : `Holdings:\n${held.join('\n')}`,
    ...(paid.length === 0 ? [] : ['', `Dividends received this morning:\n${paid.join('\n')}`]),
    ...(unfilled.length === 0 ? [] : ['', `Orders that did not fill:\n${unfilled.join('\n')}`]),
    ...(costs === null ? [] : ['', costsLine(costs)]),
    ...(left.length === 0
      ? []
      : ['', `No longer in the universe: ${left.join(', ')} (can be sold, but not bought)`]),
    ...(documents.length === 0 ? [] : ['', documentsLine(documents)]),
    ...(note === undefined ? [] : ['', note === null ? 'Your note: none' : `Your note:\n${note}`]),
    '',
    `Prices in dollars (symbol, ${columns}; - means no price):`,
    ...prices,
  ].join('\n');
}

/** Kinds that are named; the others are counted together. */
const MAX_KINDS = 12;

function documentsLine(kinds: NonNullable<Brief['documents']>): string {
  const sum = (some: typeof kinds) => some.reduce((all, { documents }) => all + documents, 0);
  const named = kinds.slice(0, MAX_KINDS).map(({ kind, documents }) => `${documents} ${kind}`);
  const others = kinds.slice(MAX_KINDS);
  if (others.length > 0) named.push(`${sum(others)} of other kinds`);
  return `Documents that you can read: ${sum(kinds)} (${named.join(', ')})`;
}

function costsLine({
  commissionPerTrade,
  commissionBps,
  slippageBps,
}: NonNullable<Brief['costs']>): string {
  const commission = [
    ...(commissionPerTrade > 0 ? [`$${commissionPerTrade}`] : []),
    ...(commissionBps > 0 ? [`${commissionBps} basis points of its value`] : []),
  ];
  return [
    'Trading costs:',
    ...(commission.length > 0 ? [`each order pays ${commission.join(' and ')}.`] : []),
    ...(slippageBps > 0 ? [`Orders fill ${slippageBps} basis points worse than the open.`] : []),
  ].join(' ');
}

/**
 * The version of everything that a model reads: prompt, morning report, tools with their
 * descriptions, replies and refusals. It is stored with each committed session, so that any later
 * program can replay the session. The universe is stored with the job.
 *
 * To change a text, add a version to the end of this list and keep the functions of the earlier
 * ones: the compiler asks for both in `prompt.ts` and in `trading/tools.ts`.
 */
export type Wording = 1;

/** What models read now. */
export const WORDING: Wording = 1;

const wordings: readonly Wording[] = [1];

/** A stored version; undefined for one that this program does not know. */
export function wordingOf(version: number): Wording | undefined {
  return wordings.find((known) => known === version);
}
