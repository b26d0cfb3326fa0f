import { type Board, findBoard, lotsText, type MarketRules } from '#domain/market-rules.ts';
import { asPercent, compact, inCurrency, limitsText } from '#text/sentences.ts';
import type { AgentTerms, Brief, OneAnswer } from '#wire/protocol.ts';
import type { ChatMessage } from './model.ts';

const ONE_ANSWER = `- There are no tools, and this is the only question of the day. Answer with one JSON object and nothing else, either
  {"orders": [{"side": "buy", "symbol": "AAPL", "amount": 10}], "reason": "..."}, where [] keeps everything as it is,
  or {"weights": {"AAPL": 0.4}, "reason": "..."}: shares of the portfolio's value; what is not named is sold, the rest stays cash.
  "reason" is a short summary of what you do and why; "confidence", from 0 to 1, may be left out.`;

function systemPrompt(brief: Brief): string {
  const { isOpenHidden, limits, decision } = brief;
  const isOneAnswer = decision?.by === 'one_answer';
  const fills = isOpenHidden
    ? '. They fill at the next open, which is not known yet: all sales first, then all purchases.'
    : " and fill at today's opening price.";
  const [the, prices] = isOpenHidden ? ['previous', 'closes'] : ['prices of the', 'morning'];
  return compact([
    `You are a stock trader with a simulated account. Each trading day you get the portfolio and the ${the}`,
    `${prices} and decide what to buy and sell, so that the account grows over the weeks.`,
    '',
    'Rules:',
    `- Orders are for whole shares${fills} There is no borrowing and no short selling.`,
    '- Only the listed symbols can be bought. Whatever is held can be sold.',
    isOneAnswer
      ? '- Orders run one after another, in their order; each sees the cash and the holdings that the one before it left.'
      : `- Use the tools to look things up and to trade. Several calls in one message run one after another, in their
  order; each sees the cash and the holdings that the one before it left.`,
    ...marketLines(brief),
    limits !== undefined && `- Limits on orders: ${limitsText(limits)}.`,
    '- A refused order says why and changes nothing.',
    "- Nothing after this morning is known. Do not guess today's close.",
    isOneAnswer
      ? ONE_ANSWER
      : '- When you are done for the day, answer without a tool call: a short summary of what you did and why.',
  ]).join('\n');
}

/** The heading of an entry's own prompt, which follows the prompt that all models have. */
const INSTRUCTIONS = 'Further instructions:';

/** What a conversation has before the model's first answer. */
type FirstMessages = (ChatMessage & { role: 'system' | 'user' })[];

/**
 * The parts of a conversation that neither a model nor a tool writes, in the first version of the
 * wording.
 */
const firstVersion = {
  /** `prompt` is the entry's own; null without one. */
  firstMessages(brief: Brief, prompt: string | null): FirstMessages {
    const system = systemPrompt(brief) + (prompt === null ? '' : `\n\n${INSTRUCTIONS}\n${prompt}`);
    const report = morningReport(brief);
    const { decision } = brief;
    if (decision?.by === 'agent')
      return [
        {
          role: 'user',
          content: JSON.stringify(agentRequest(decision, brief, { system, report })),
        },
      ];
    return [
      { role: 'system', content: system },
      { role: 'user', content: decision ? `${report}\n\n${decisionTables(decision)}` : report },
    ];
  },
  /** The summary of a day that its model ended with an answer. */
  summary: ({ content, note }: { content: string; note: string | null }) =>
    note === null ? content : `${content}\n\n${note}`.trim(),
  /** The summary of a day that ended after the last step allowed. */
  stepLimit: (maxSteps: number) => `Reached the limit of ${maxSteps} steps; the day ended there.`,
};

/** What an agent is sent, except how it reaches the tools of the day. */
function agentRequest(
  { signature, run, universe, maxToolCalls, seconds }: AgentTerms,
  { date, cash, holdings, portfolioValue: value, quotes, limits, rules }: Brief,
  texts: { system: string; report: string },
) {
  const prices = quotes.map(({ symbol, previousClose: previous_close, open }) => [
    symbol,
    { previous_close, open },
  ]);
  return {
    signature,
    run,
    date,
    ...texts,
    ...(rules.currency !== 'USD' && { currency: rules.currency }),
    portfolio: { cash, holdings, value },
    prices: Object.fromEntries(prices),
    limits: { ...limits, max_tool_calls: maxToolCalls, seconds },
    universe,
  };
}

/** What the tools would have said. */
function decisionTables({ dates, closes, titles = [] }: OneAnswer): string {
  const rows = [
    ['date', ...dates],
    ...closes.map((own) => [own.symbol, ...own.closes.map((close) => close ?? '-')]),
  ];
  const newest = titles.map(({ date, kind, title }) => `${date} ${kind} ${title}`);
  return compact([
    'The last closes before today, oldest first (- means no price):',
    ...rows.map((row) => row.join(' ')),
    block('The newest documents (date, kind, title):', newest),
  ]).join('\n');
}

/** Kinds that are named; the others are counted together. */
const MAX_KINDS = 12;

function documentsLine(kinds: NonNullable<Brief['documents']>): string {
  const sum = (some: typeof kinds) => some.reduce((all, { documents }) => all + documents, 0);
  const named = kinds.slice(0, MAX_KINDS).map(({ kind, documents }) => `${documents} ${kind}`);
  const others = kinds.slice(MAX_KINDS);
  if (others.length > 0) named.push(`${sum(others)} of other kinds`);
  return `Documents published before this morning: ${sum(kinds)} (${named.join(', ')})`;
}

/** The second also says of what is without a price when it last closed, which only its briefs do. */
const textsByVersion: Record<Wording, typeof firstVersion> = { 1: firstVersion, 2: firstVersion };

/** The words of a version of the wording. */
export function conversationTexts(wording: Wording = WORDING) {
  return textsByVersion[wording];
}

/**
 * The first messages of every conversation. They are made only from the brief and the entry's
 * prompt, so they reveal nothing that the model must not know.
 */
export function firstMessages(brief: Brief, prompt: string | null = null): FirstMessages {
  return conversationTexts().firstMessages(brief, prompt);
}

function morningReport({
  date,
  cash,
  portfolioValue,
  holdings,
  dividends = [],
  exchanges = [],
  quotes,
  rules,
  note,
  isOpenHidden,
  unfilled = [],
  documents = [],
  left = [],
  unpriced = [],
}: Brief): string {
  const held = holdings.map(
    ({ symbol, quantity, price }) => `${symbol}: ${quantity} shares at ${price}`,
  );
  const closes = unpriced.map(
    ({ symbol, lastClose }) => `${symbol}: its last close is of ${lastClose}`,
  );
  const prices = quotes.map(({ symbol, previousClose, open }) => {
    const known = isOpenHidden ? [previousClose] : [previousClose, open];
    return [symbol, ...known.map((price) => price ?? '-')].join(' ');
  });
  const [at, columns] = isOpenHidden
    ? ['previous closes', 'previous close']
    : ["today's open", 'previous close, open today'];
  return compact([
    `Today's date: ${date}`,
    '',
    `Cash: ${cash}`,
    `Portfolio value at ${at}: ${portfolioValue}`,
    held.length === 0 ? 'Holdings: none' : `Holdings:\n${held.join('\n')}`,
    block('Dividends received this morning:', dividends),
    exchanges.length > 0 && `\n${exchanges.join('\n')}`,
    block('Held without a price for two sessions or more:', closes),
    block('Orders that did not fill:', unfilled),
    left.length > 0 &&
      `\nNo longer in the universe, so they cannot be bought any more: ${left.join(', ')}`,
    costsLine(rules),
    documents.length > 0 && `\n${documentsLine(documents)}`,
    note !== undefined && (note === null ? '\nYour note: none' : `\nYour note:\n${note}`),
    '',
    `Prices in ${rules.currency === 'USD' ? 'dollars' : rules.currency} (symbol, ${columns}; - means no price):`,
    ...prices,
  ]).join('\n');
}

/** Lines below a heading, after an empty one; nothing without any. */
function block(heading: string, lines: readonly string[]): string | false {
  return lines.length > 0 && `\n${[heading, ...lines].join('\n')}`;
}

/** What a market does not do as the American one does, a line each. */
function marketLines({ rules, quotes, isOpenHidden }: Brief): string[] {
  const { currency, sell_same_day: sellsSameDay } = rules;
  const boards = quotes.map(({ symbol, isAdjusted }): Board => {
    return {
      ...findBoard(rules, symbol),
      symbols: symbol,
      ...(isAdjusted && { price_limit: null }),
    };
  });
  const lots = groupByWords(boards, lotsText);
  const limits = groupByWords(boards, ({ price_limit: limit }) =>
    limit === null ? 'without a limit' : `within ${asPercent(limit)} of the close before`,
  ).map(({ words, names }, place) => (place === 0 ? words : `those of ${names} ${words}`));
  return compact([
    currency !== 'USD' && `- All amounts of money are in ${currency}.`,
    ...lots.map(({ words, names }) => {
      const whose = lots.length === 1 ? '' : `of ${names} `;
      return words !== null && `- Purchases ${whose}are for ${words}.`;
    }),
    boards.some(({ step }) => step > 1) &&
      '- A sale is a multiple of the same steps, with or without all that is held beyond them.',
    !sellsSameDay && !isOpenHidden && '- What was bought on a day cannot be sold on that day.',
    boards.some(({ price_limit: limit }) => limit !== null) &&
      `- A day's prices are ${limits.join(', ')}.
  At an open at the upper limit no one sells, at the lower one no one buys.`,
  ]);
}

/** What is said of boards, with the names of their symbols; first what is said of most. */
function groupByWords(boards: readonly Board[], wordsOf: (board: Board) => string | null) {
  return [...Map.groupBy(boards, wordsOf)]
    .sort(([, one], [, other]) => other.length - one.length)
    .map(([words, own]) => ({ words, names: own.map(({ symbols }) => symbols).join(', ') }));
}

/** After an empty line; nothing where orders cost nothing. */
function costsLine({ currency, costs }: MarketRules): string | false {
  const { commission_per_trade: fixed, commission_bps: share, min_commission: least } = costs;
  const { sell_tax_bps: tax, slippage_bps: slippage } = costs;
  const commission = compact([
    fixed > 0 && inCurrency(currency, fixed),
    share > 0 && `${share} basis points of its value`,
  ]).join(' and ');
  const paid = [commission, least > 0 && `at least ${inCurrency(currency, least)}`].filter(Boolean);
  const lines = compact([
    paid.length > 0 && `each order pays ${paid.join(', ')}.`,
    tax > 0 && `A sale also pays ${tax} basis points of its value in tax.`,
    slippage > 0 && `Orders fill ${slippage} basis points worse than the open.`,
  ]);
  return lines.length > 0 && `\nTrading costs: ${lines.join(' ')}`;
}

/**
 * The version of everything that a model reads: prompt, morning report, tools with their
 * descriptions, replies and refusals. It is stored with each committed session, so that any later
 * program can replay the session. The universe is stored with the job.
 *
 * To change a text, add a version to the end of this list and keep the functions of the earlier
 * ones: the compiler asks for both in `prompt.ts` and in `core/trading/tools.ts`.
 */
const wordings = [1, 2] as const;
export type Wording = (typeof wordings)[number];

export const WORDING: Wording = 2;

/** A stored version; undefined for one that this program does not know. */
export function findWording(version: number): Wording | undefined {
  return wordings.find((known) => known === version);
}
