import { type Clock, closedThrough, utcDate } from '#time/calendar.ts';
import type { Settings } from '#settings/settings.ts';
import { createAlphaVantage } from './alpha-vantage.ts';
import { createMassive } from './massive.ts';

/**
 * THE PRICE PROVIDERS: a row each, and a file. The first that has a key supplies what it reaches,
 * the next what is beyond. A new one also needs its settings (settings.ts) and a word in
 * `PriceSource` (database/prices.ts).
 */
const priceProviders = [
  {
    /** The setting that holds its key, for messages. */
    keyVariable: 'MASSIVE_API_KEY',
    key: 'massiveApiKey',
    url: 'massiveBaseUrl',
    create: createMassive,
  },
  {
    keyVariable: 'ALPHAADVANTAGE_API_KEY',
    key: 'alphaVantageApiKey',
    url: 'alphaVantageBaseUrl',
    create: createAlphaVantage,
  },
] as const;

/** The providers whose keys are set, in order of precedence. */
export function connectProviders(settings: Settings, clock: Clock) {
  const days = { today: () => utcDate(clock()), closedThrough: () => closedThrough(clock()) };
  return priceProviders.flatMap(({ keyVariable, key, url, create }) => {
    const apiKey = settings[key];
    if (apiKey === null) return [];
    return [{ keyVariable, provider: create({ apiKey, baseUrl: settings[url], ...days }) }];
  });
}

export function hasPriceProvider(settings: Settings): boolean {
  return priceProviders.some(({ key }) => settings[key] !== null);
}

/** In DEV without a provider's key, prices are made up. */
export function usesSyntheticPrices(settings: Settings): boolean {
  return settings.deploymentMode === 'DEV' && !hasPriceProvider(settings);
}

/** Why no price can be downloaded without a key. */
export const NO_PRICE_PROVIDER = `neither ${priceProviders.map(({ keyVariable }) => keyVariable).join(' nor ')} is set`;
