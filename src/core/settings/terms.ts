import {
  boardText,
  costKeys,
  type MarketTerms,
  namedMarkets,
  rulesOf,
} from '#domain/market-rules.ts';
import { amountWords, compact, count, limitsText, list } from '#text/sentences.ts';
import type { AgentConfiguration } from './configuration-schema.ts';
import { universeKey } from './members.ts';

/** The terms of a job, which a study keeps from job to job. Retries, delays and cost limits are none. */
export const termNouns = {
  costs: 'trading costs',
  universe: 'universe',
  initial_cash: 'initial cash',
  dividends: 'treatment of dividends',
  open: 'open',
  limits: 'limits on orders',
  market: 'market',
  max_steps: 'steps',
};
export type TermKind = keyof typeof termNouns;
export const termKinds = Object.keys(termNouns) as TermKind[];
/** The terms that two models must share to be compared. */
export const comparedTerms = termKinds.filter((kind) => kind !== 'max_steps');

/** A text that is equal where the term is, and its wording. */
type Term = readonly [key: string, words: string];

/** The terms of one configuration, a default spelt out or not, symbols in any order. */
export function describeTerms(configuration: AgentConfiguration): Record<TermKind, Term> {
  const { stock_symbols, members, dividends, open, market } = configuration;
  const limits = limitsText(configuration.limits);
  const cash = amountWords(market.currency, configuration.initial_cash);
  const steps = `at most ${configuration.max_steps} a day`;
  const key = JSON.stringify(rulesOf(market));
  return {
    costs: costTerm(configuration),
    universe: [universeKey({ stock_symbols, members }), count(stock_symbols.length, 'symbol')],
    initial_cash: [`${configuration.initial_cash}`, cash],
    dividends: dividends ? ['on', 'paid'] : ['off', 'not paid'],
    open: [open, open],
    limits: [limits, limits],
    market: [key, marketText(market)],
    max_steps: [steps, steps],
  };
}

/** Boards that are named of a market. */
const MAX_BOARDS = 3;

/** The name of one that has one; of another, its rules too. */
function marketText(market: MarketTerms): string {
  const { name, currency, sell_same_day: sellsSameDay, opens, time_zone: zone } = market;
  if (Object.hasOwn(namedMarkets, name)) return name;
  const sales = `${sellsSameDay ? '' : 'no '}sales on the day of a purchase`;
  const boards = list(market.boards.map(boardText), { most: MAX_BOARDS });
  return `${name} (${currency}; ${sales}; opens ${opens} ${zone}; benchmark ${market.benchmark}; boards ${boards})`;
}

/** Equal for the same terms. */
export function termsKey(configuration: AgentConfiguration): string {
  return JSON.stringify(Object.values(describeTerms(configuration)).map(([key]) => key));
}

function costTerm(terms: AgentConfiguration): Term {
  const { currency } = terms.market;
  const parts = compact([
    terms.commission_per_trade > 0 &&
      `${amountWords(currency, terms.commission_per_trade)} per trade`,
    terms.commission_bps > 0 && `commission of ${terms.commission_bps} basis points`,
    terms.min_commission > 0 && `at least ${amountWords(currency, terms.min_commission)} per trade`,
    terms.sell_tax_bps > 0 && `tax of ${terms.sell_tax_bps} basis points on sales`,
    terms.slippage_bps > 0 && `slippage of ${terms.slippage_bps} basis points`,
  ]);
  return [costKeys.map((key) => terms[key]).join(' '), parts.join(', ') || 'none'];
}

/** The terms that differ, each as `open: shown before, hidden now`. */
export function changedTerms(before: AgentConfiguration, now: AgentConfiguration): string[] {
  const [old, own] = [describeTerms(before), describeTerms(now)];
  return termKinds.flatMap((kind) => {
    const [[was, words], [is, newWords]] = [old[kind], own[kind]];
    if (was === is) return [];
    const changes = kind === 'universe' ? changedSymbols(before, now) : [];
    return `${termNouns[kind]}: ${[`${words} before, ${newWords} now`, ...changes].join(', ')}`;
  });
}

/** Symbols that a sentence names. */
const MAX_NAMED_SYMBOLS = 3;

function changedSymbols(
  { stock_symbols: before }: AgentConfiguration,
  { stock_symbols: now }: AgentConfiguration,
): string[] {
  const named = (sign: string, some: readonly string[], others: readonly string[]) => {
    const own = [...new Set(some).difference(new Set(others))].sort();
    return own.length > 0 && `${sign} ${list(own, { most: MAX_NAMED_SYMBOLS })}`;
  };
  const changes = compact([named('without', before, now), named('with', now, before)]);
  return changes.length > 0 ? changes : ['other lines in the file of its members'];
}

/** A configuration with the terms of an earlier job. */
export function withTermsOf(
  configuration: AgentConfiguration,
  stored: AgentConfiguration,
): AgentConfiguration {
  const { max_retries, base_delay, max_cost_usd } = configuration;
  return { ...stored, max_retries, base_delay, max_cost_usd };
}
