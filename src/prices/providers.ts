import { type CalendarDate, type Clock, closedThrough, dateOf } from '../basics/calendar.ts';
import type { Settings } from '../basics/settings.ts';
import { createAlphaVantage } from './alpha-vantage.ts';
import { createMassive } from './massive.ts';
import type { PriceProvider } from './provider.ts';

/**
 * THE PRICE PROVIDERS: a row each, and a file. The first that has a key supplies what it reaches,
 * the next what is beyond. A new one also needs its settings (settings.ts) and a word in
 * `PriceSource` (database/prices.ts).
 */
interface ProviderRow {
  /** The setting that holds its key, for messages. */
  keyVariable: string;
  keyOf(settings: Settings): string | null;
  create(options: Days & { settings: Settings; apiKey: string }): PriceProvider;
}

const priceProviders: readonly ProviderRow[] = [
  {
    keyVariable: 'MASSIVE_API_KEY',
    keyOf: ({ massiveApiKey }) => massiveApiKey,
    create: ({ settings, ...options }) =>
      createMassive({ ...options, baseUrl: settings.massiveBaseUrl }),
  },
  {
    keyVariable: 'ALPHAADVANTAGE_API_KEY',
    keyOf: ({ alphaVantageApiKey }) => alphaVantageApiKey,
    create: ({ settings, ...options }) =>
      createAlphaVantage({ ...options, baseUrl: settings.alphaVantageBaseUrl }),
  },
];

interface Days {
  /** Today in UTC. */
  today: () => CalendarDate;
  /** The last date whose trading is over. */
  closedThrough: () => CalendarDate;
}

/** A provider whose key is set. */
export interface ConnectedProvider {
  keyVariable: string;
  provider: PriceProvider;
}

/** The providers whose keys are set, in order of precedence. */
export function connectProviders(settings: Settings, clock: Clock): ConnectedProvider[] {
  const days: Days = { today: () => dateOf(clock()), closedThrough: () => closedThrough(clock()) };
  return priceProviders.flatMap(({ keyVariable, keyOf, create }) => {
    const apiKey = keyOf(settings);
    return apiKey === null
      ? []
      : [{ keyVariable, provider: create({ settings, apiKey, ...days }) }];
  });
}

export function hasPriceProvider(settings: Settings): boolean {
  return priceProviders.some(({ keyOf }) => keyOf(settings) !== null);
}

/** In DEV without a provider's key, prices are made up. */
export function usesSyntheticPrices(settings: Settings): boolean {
  return settings.deploymentMode === 'DEV' && !hasPriceProvider(settings);
}

/** Why no price can be downloaded without a key. */
export const NO_PRICE_PROVIDER = `neither ${priceProviders.map(({ keyVariable }) => keyVariable).join(' nor ')} is set`;
