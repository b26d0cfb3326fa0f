import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import {
  boardsSchema,
  marketEntries,
  type MarketTerms,
  namedMarkets,
} from '#domain/market-rules.ts';
import { asObject } from '#json/json.ts';
import { recordSchema } from '#json/records.ts';
import { compact, didYouMean, hint, list } from '#text/sentences.ts';
import { isTimeZone } from '#time/calendar.ts';

/** How a configuration says in which market its models trade. */

/** Keys of people's comments. */
export const COMMENT = /^([_$]|comment$)/;

const NAMES = Object.keys(namedMarkets) as (keyof typeof namedMarkets)[];
const MARKETS = list(NAMES.map((name) => `"${name}"`));

/** The name of a market; `otherwise` is what to do where none is near. */
const nameSchema = (otherwise = '') =>
  v.picklist(NAMES, ({ input }) => {
    const others = `the markets are ${MARKETS}${otherwise}`;
    return `is not a market: ${didYouMean(String(input), NAMES, others)}`;
  });

const ZONE = 'must be a time zone such as Asia/Shanghai';
const time_zone = v.pipe(v.string(ZONE), v.check(isTimeZone, ZONE));
const ownEntries = { ...marketEntries, time_zone, symbols: boardsSchema };
const OWN_KEYS = Object.keys(ownEntries);
const KEYS = [...OWN_KEYS, 'base'];

const writtenMarket = v.pipe(
  recordSchema(v.unknown(), { message: `must be one of ${MARKETS}, or an object` }),
  v.transform((own) =>
    Object.fromEntries(Object.entries(own).filter(([key]) => !COMMENT.test(key))),
  ),
  v.strictObject(
    { ...v.partial(v.object(ownEntries)).entries, base: v.optional(nameSchema()) },
    ({ input: key }) =>
      `is not a key of a market${hint(String(key), KEYS) || `; they are ${KEYS.join(', ')}`}`,
  ),
  v.check(
    (own) => 'base' in own || OWN_KEYS.every((key) => key in own),
    ({ input: own }) =>
      `lacks ${OWN_KEYS.filter((key) => !(key in own)).join(', ')}; ` +
      `name all keys, or a "base" (${MARKETS}) and what differs from it`,
  ),
  v.transform(({ base, symbols = [], ...own }): MarketTerms => {
    const start = namedMarkets[base ?? 'us'];
    const boards = [...symbols, ...start.boards];
    // Behind a row of all symbols no other counts.
    const last = boards.findIndex((board) => board.symbols === '*');
    const rules = { ...start, ...(own as Partial<MarketTerms>) };
    const market = { ...rules, boards: boards.slice(0, last + 1) };
    const same = NAMES.find((name) => isDeepStrictEqual({ ...market, name }, namedMarkets[name]));
    return { ...market, name: same ?? (base ? `${base}, changed` : 'own') };
  }),
);

/** `agent_config.market` of a configuration: a name, or an object with what differs. */
export const marketTerm = v.lazy((own) =>
  typeof own === 'string'
    ? v.pipe(
        nameSchema(', or an object has the keys of another one'),
        v.transform((name) => namedMarkets[name]),
      )
    : writtenMarket,
);

/** Agents of the AI-Trader family by what they trade. */
const CHINESE_AGENT = /AStock/i;
const OTHER_AGENT = /Crypto|Hour|Forex/i;

/**
 * For which market a file of the AI-Trader family is, by its top level; with a sentence where it
 * trades otherwise there.
 */
export function marketOfFamily(content: unknown) {
  const { market: written, agent_type: type, agent_config: own } = asObject(content) ?? {};
  const agent = typeof type === 'string' ? type : '';
  const usual = CHINESE_AGENT.test(agent) ? 'cn' : 'us';
  const name = (written ?? '') === '' ? usual : written;
  const { success, output, issues } = v.safeParse(nameSchema(), name);
  const market = namedMarkets[success ? output : 'us'];
  const others = success
    ? OTHER_AGENT.test(agent) && `"agent_type": "${agent}"`
    : `"market": "${name}"`;
  const isDecided = asObject(own)?.['market'] != null;
  const isKnown = success || isDecided || OTHER_AGENT.test(String(name));
  return {
    market,
    warnings: compact([
      others &&
        `${others} is for other programs: here models trade once a day, on weekdays, in whole units, ` +
          `by the rules of "${market.name}" unless agent_config.market has others`,
    ]),
    problems: compact([
      typeof name !== 'string' &&
        'market: must be a name here; agent_config.market may be an object',
      typeof name === 'string' && !isKnown && `market: ${issues[0].message}`,
    ]),
  };
}
