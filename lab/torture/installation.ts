import { copyFileSync, existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { weekdays } from '../../src/core/time/calendar.ts';

/**
 * What every kind of trouble is made for: the built program in a folder of its own, its models and
 * its prices.
 */

const PROGRAM = new URL('../../dist/server.js', import.meta.url).pathname;
const MODELS = ['alpha', 'beta', 'gamma', 'delta', 'epsilon'];
export const SYMBOLS = ['AAPL', 'MSFT', 'NVDA', 'ORLY'];
export const FIRST_DATE = '2015-01-01';
const LAST_DATE = '2025-10-31';
export const INITIAL_CASH = 1_000_000;

/**
 * A folder with the program, a configuration of so many models that answer at `modelsUrl`, and
 * made-up prices from `FIRST_DATE` to `lastDate`, which is at most `LAST_DATE`.
 */
export function install(
  modelsUrl: string,
  random: () => number,
  { count = 3, lastDate = LAST_DATE } = {},
): string {
  if (!existsSync(PROGRAM)) throw new Error('dist/server.js is missing: run "npm run build" first');
  const folder = mkdtempSync(join(tmpdir(), 'tss-torture-'));
  copyFileSync(PROGRAM, join(folder, 'server.js'));
  mkdirSync(join(folder, 'configs'));
  const configuration = {
    models: MODELS.slice(0, count).map((signature) => ({
      ...{ signature, enabled: true, openai_base_url: modelsUrl, openai_api_key: 'key' },
    })),
    agent_config: {
      ...{ stock_symbols: SYMBOLS, initial_cash: INITIAL_CASH, max_steps: 6, base_delay: 0.01 },
    },
  };
  writeFileSync(join(folder, 'configs/default_config.json'), JSON.stringify(configuration));
  writeFileSync(
    join(folder, 'prices.jsonl'),
    SYMBOLS.map((symbol) => seriesOf(symbol, { lastDate, random })).join('\n'),
  );
  return folder;
}

function seriesOf(
  symbol: string,
  { lastDate, random }: { lastDate: string; random: () => number },
): string {
  let price = 50 + 200 * random();
  const days = weekdays(FIRST_DATE, lastDate < LAST_DATE ? lastDate : LAST_DATE).map((date) => {
    const open = (price *= 0.97 + 0.06 * random());
    const close = (price *= 0.98 + 0.04 * random());
    return [date, { '1. buy price': open.toFixed(4), '4. sell price': close.toFixed(4) }];
  });
  return JSON.stringify({
    'Meta Data': { '2. Symbol': symbol },
    'Time Series (Daily)': Object.fromEntries(days),
  });
}

/** A small generator (mulberry32), so that a run can be repeated from its seed. */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
