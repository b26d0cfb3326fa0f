import type { TestContext } from 'node:test';
import { weekdays } from '../../src/core/time/calendar.ts';
import { startTestService, type TestService, type TestServiceOptions } from './service.ts';

/**
 * Prices of two symbols on every weekday of two months: AAPL opens at 100, MSFT at 200, each a
 * dollar dearer every day.
 */
export const PRICES = weekdays('2025-10-01', '2025-11-28')
  .flatMap((date, day) => [
    `AAPL ${date} ${100 + day} ${100 + day}.5`,
    `MSFT ${date} ${200 + day} ${201 + day}`,
  ])
  .join('\n');

/** Settings as a server in PROD has them that downloads nothing. */
export const PROD = {
  deploymentMode: 'PROD',
  preserveDevData: null,
  autoDownloadPriceData: false,
} as const;

export interface ProdOptions extends Omit<TestServiceOptions, 'configuration'> {
  models: readonly object[];
  agentConfig?: object;
  studies?: object;
}

/** A service in PROD over stored prices, patient in milliseconds rather than seconds. */
export function startProdService(
  t: TestContext,
  { models, agentConfig = {}, studies = {}, settings = {}, ...options }: ProdOptions,
): Promise<TestService> {
  return startTestService(t, {
    prices: PRICES,
    ...options,
    settings: { ...PROD, ...settings },
    configuration: {
      models: models.map((model) => ({ enabled: true, ...model })),
      agent_config: { stock_symbols: ['AAPL', 'MSFT'], base_delay: 0.005, ...agentConfig },
      studies,
    },
  });
}
