import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Helper, startHelper } from './helper.ts';
import type { ProviderWork, Trading } from './provider.ts';
import { type ServerOptions, benchFolder, endWithBench } from './support.ts';

/** What a build needs to trade in PROD: prices, and a provider with models. */

export interface Ready {
  options: ServerOptions & { folder: string };
  provider: Helper<ProviderWork>;
}

/** The settings of a service in PROD; without a provider it can only be asked. */
export const PROD = { DEPLOYMENT_MODE: 'PROD', AUTO_DOWNLOAD_PRICE_DATA: 'false' };

/** Imports prices, and starts the provider. */
export async function prepareTrading(
  build: string,
  { dates, ...trading }: Trading & { dates: readonly string[] },
): Promise<Ready> {
  const folder = benchFolder();
  writePrices(join(folder, 'prices.csv'), { symbols: trading.symbols, dates });
  const command = [build, 'import-prices', '--as', 'raw', 'prices.csv'];
  const stdio = ['ignore', 'ignore', 'inherit'] as const;
  const child = spawn(process.execPath, command, { cwd: folder, env: {}, stdio: [...stdio] });
  const [code] = await once(endWithBench(child), 'close');
  if (code !== 0) throw new Error(`The import ended with ${code}`);
  const provider = startHelper<ProviderWork>('./provider.ts', trading);
  const entry = {
    openai_base_url: `${await provider.ask({ what: 'url' })}/v1`,
    openai_api_key: 'bench',
  };
  const agentConfig = { initial_cash: 100_000, stock_symbols: trading.symbols };
  return { options: { folder, env: PROD, entry, agentConfig }, provider };
}

/** A file of prices in the order of their dates: all symbols open at 1 dollar and close at 1.50. */
export function writePrices(
  path: string,
  { symbols, dates }: { symbols: readonly string[]; dates: readonly string[] },
): void {
  const rows = dates.flatMap((date) =>
    symbols.map((symbol) => `${symbol},${date},1.00,1.75,0.75,1.50,1234567`),
  );
  writeFileSync(path, ['symbol,date,open,high,low,close,volume', ...rows].join('\n'));
}
