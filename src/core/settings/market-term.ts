import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { type Board, type MarketTerms, namedMarkets, rulesOf, US } from '#domain/market-rules.ts';
import { SYMBOL_PATTERN } from '#domain/symbols.ts';
import { asObject } from '#json/json.ts';
import { didYouMean, hint, list } from '#text/sentences.ts';

/** How a configuration says in which market its models trade. */

/** Keys of people's comments. */
export const COMMENT = /^([_$]|comment$)/;

const NAMES = Object.keys(namedMarkets);
const MAX_BOARDS = 1_000;
const MAX_LOT = 1_000_000;
const COLUMNS = 'symbols,minimum,step,price_limit';
/** With at most one `*`, for any characters. */
const PATTERN = /^(?!.*\*.*\*)[A-Z0-9.^=*-]{1,20}$/;

const textLike = (pattern: RegExp, message: string) =>
  v.pipe(v.string(message), v.regex(pattern, message));

const isTimeZone = (zone: string) => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }) instanceof Intl.DateTimeFormat;
  } catch {
    return false;
  }
};

const ZONE = 'must be a time zone such as Asia/Shanghai';

const keySchemas = {
  currency: textLike(/^[A-Z]{3}$/, 'must be three capital letters such as CNY'),
  sell_same_day: v.boolean('must be true or false'),
  opens: textLike(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time such as 09:30'),
  time_zone: v.pipe(v.string(ZONE), v.check(isTimeZone, ZONE)),
  benchmark: textLike(SYMBOL_PATTERN, 'must be a ticker symbol in capital letters'),
  symbols: v.string(`must be text with lines of ${COLUMNS}`),
};
type Key = keyof typeof keySchemas;
const KEYS = Object.keys(keySchemas) as Key[];

interface Problem {
  key?: string;
  message: string;
}

/** The rules that a value names; or what is wrong with it, by key. */
function readMarket(value: unknown): { market: MarketTerms } | { problems: Problem[] } {
  const fails = (...problems: Problem[]) => ({ problems });
  const markets = list(NAMES.map((name) => `"${name}"`));
  if (typeof value === 'string') {
    const named = Object.hasOwn(namedMarkets, value) ? namedMarkets[value] : undefined;
    const otherwise = `the markets are ${markets}, or an object has the keys of another one`;
    return named
      ? { market: named }
      : fails({ message: `is not a market: ${didYouMean(value, NAMES, otherwise)}` });
  }
  const written = asObject(value);
  if (written === undefined) return fails({ message: `must be one of ${markets}, or an object` });
  const { base: baseName, ...own } = Object.fromEntries(
    Object.entries(written).filter(([key]) => !COMMENT.test(key)),
  );
  const base = typeof baseName === 'string' ? namedMarkets[baseName] : undefined;
  const known = [...KEYS, 'base'];
  const problems = Object.keys(own).flatMap((key): Problem[] => {
    if (!known.includes(key)) {
      const message = hint(key, known) || `; they are ${known.join(', ')}`;
      return [{ key, message: `is not a key of a market${message}` }];
    }
    const { issues = [] } = v.safeParse(keySchemas[key as Key], own[key]);
    return issues.slice(0, 1).map(({ message }) => ({ key, message }));
  });
  if (baseName !== undefined && !(base && Object.hasOwn(namedMarkets, String(baseName)))) {
    const words = didYouMean(String(baseName), NAMES, `the markets are ${markets}`);
    problems.push({ key: 'base', message: `is not a market: ${words}` });
  }
  const missing = KEYS.filter((key) => !(key in own));
  if (baseName === undefined && missing.length > 0)
    problems.push({
      message: `lacks ${missing.join(', ')}; name all keys, or a "base" (${markets}) and what differs from it`,
    });
  const { boards, wrong } = readBoards(own['symbols']);
  if (wrong !== null) problems.push({ key: 'symbols', message: wrong });
  if (problems.length > 0) return { problems };
  const { symbols: _symbols, ...rest } = own;
  const start = base ?? US;
  const whole = {
    ...start,
    ...(rest as Partial<MarketTerms>),
    // Behind a row of all symbols no other counts.
    boards: boards.some(({ symbols }) => symbols === '*')
      ? boards.slice(0, boards.findIndex(({ symbols }) => symbols === '*') + 1)
      : [...boards, ...start.boards],
  };
  return { market: { ...whole, name: marketName(whole, base) } };
}

/** That of the market with the same rules; of another one, of which market it is a change. */
function marketName(market: MarketTerms, base: MarketTerms | undefined): string {
  const is = (name: string) =>
    isDeepStrictEqual(rulesOf(market), rulesOf(namedMarkets[name] ?? US));
  return NAMES.find(is) ?? (base ? `${base.name}, changed` : 'own');
}

/** Rows of symbols with their lots and price limit; the header may be left out. */
function readBoards(text: unknown): { boards: Board[]; wrong: string | null } {
  const boards: Board[] = [];
  const rows = typeof text === 'string' ? text.split('\n') : [];
  for (const [index, row] of rows.entries()) {
    const line = row.trim();
    if (line === '' || (index === 0 && line === COLUMNS)) continue;
    const [symbols = '', ...cells] = line.split(',').map((cell) => cell.trim());
    const [minimum = NaN, step = NaN] = cells.map(Number);
    const limit = cells[2] ?? '';
    const isLot = (lot: number) => Number.isInteger(lot) && lot >= 1 && lot <= MAX_LOT;
    const wrong =
      cells.length < 2 || cells.length > 3
        ? `must be ${COLUMNS}`
        : !PATTERN.test(symbols)
          ? 'symbols must be a symbol in capital letters, or a pattern with one *'
          : !isLot(minimum) || !isLot(step)
            ? `minimum and step must be whole numbers from 1 to ${MAX_LOT}`
            : limit !== '' && !(Number(limit) > 0 && Number(limit) < 1)
              ? 'price_limit must be above 0 and below 1 (0.1 is 10 %), or empty'
              : boards.length === MAX_BOARDS
                ? `there must be no more than ${MAX_BOARDS} rows`
                : null;
    if (wrong !== null) return { boards, wrong: `line ${index + 1}: ${wrong}` };
    boards.push({ symbols, minimum, step, price_limit: limit === '' ? null : Number(limit) });
  }
  return { boards, wrong: null };
}

/** `agent_config.market` of a configuration: a name, or an object with what differs. */
export const marketTerm = v.pipe(
  v.unknown(),
  v.rawTransform<unknown, MarketTerms>(({ dataset, addIssue, NEVER }) => {
    const input = dataset.value;
    const read = readMarket(input);
    if ('market' in read) return read.market;
    for (const { key, message } of read.problems) {
      const place = {
        type: 'object',
        origin: 'value',
        input: {},
        key: key ?? '',
        value: null,
      } as const;
      addIssue({ message, ...(key !== undefined && { path: [place] }) });
    }
    return NEVER;
  }),
);

/** Agents of the AI-Trader family by what they trade. */
const CHINESE_AGENT = /AStock/i;
const OTHER_AGENT = /Crypto|Hour|Forex/i;

/**
 * For which market a file of the AI-Trader family is, by its top level; with a sentence where it
 * trades otherwise there.
 */
export function marketOfFamily(content: unknown) {
  const { market, agent_type: agent, agent_config: own } = asObject(content) ?? {};
  const [name, type] = [market, agent].map((word) => (typeof word === 'string' ? word : ''));
  const named = name && Object.hasOwn(namedMarkets, name) ? namedMarkets[name] : undefined;
  const chosen = named ?? (!name && CHINESE_AGENT.test(type ?? '') ? namedMarkets['cn'] : US) ?? US;
  const other = name && !named ? `"market": "${name}"` : null;
  const others = other ?? (OTHER_AGENT.test(type ?? '') ? `"agent_type": "${type}"` : null);
  const sentence =
    `${others} is for other programs: here models trade once a day, on weekdays, in whole units, ` +
    `by the rules of "${chosen.name}" unless agent_config.market has others`;
  const isOther = market != null && typeof market !== 'string';
  const isDecided = asObject(own)?.['market'] != null;
  const otherwise = `the markets are ${list(NAMES.map((one) => `"${one}"`))}`;
  const isMisspelt = name && !named && !isDecided && !OTHER_AGENT.test(name);
  const problem = isOther
    ? 'must be a name here; agent_config.market may be an object'
    : isMisspelt && `is not a market: ${didYouMean(name, NAMES, otherwise)}`;
  return {
    market: chosen,
    warnings: others === null ? [] : [sentence],
    problems: problem ? [`market: ${problem}`] : [],
  };
}
