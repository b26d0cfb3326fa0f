import type { TestContext } from 'node:test';
import { asWarning } from '../../src/core/domain/vocabulary.ts';
import { weekdays } from '../../src/core/time/calendar.ts';
import { silentLog } from '../../src/core/process/log.ts';
import { readSettings, type Settings } from '../../src/core/settings/settings.ts';
import { type Database, openDatabase } from '../../src/core/database/database.ts';
import type { PriceRequest } from '../../src/core/prices/download.ts';
import { type PriceSupply, supplyPrices } from '../../src/core/prices/supply.ts';
import { MASSIVE_KEY, type MassiveServerOptions, startMassiveServer } from './massive-server.ts';
import { type PriceServerOptions, startPriceServer } from './price-server.ts';
import { rowsAsText } from './tables.ts';

export const ALPHA_KEY = 'SECRET0123456789';
/** A Monday. */
export const TODAY = '2025-12-01';
export const WEEK = weekdays('2025-11-17', '2025-11-21');

/** A bar for each symbol on each date, at 100 and 101. */
export function series(
  symbols: string,
  dates: readonly string[],
  { open = 100, close = 101 } = {},
): string {
  return dates
    .flatMap((date) => symbols.split(' ').map((symbol) => `${symbol} ${date} ${open} ${close}`))
    .join('\n');
}

export interface Setting {
  database?: Database;
  /** Symbols with a space between them, else A, B and C. */
  universe?: string;
  members?: PriceRequest['members'];
  dates?: readonly string[];
  today?: string;
  /** In UTC. */
  time?: string;
  settings?: Partial<Settings>;
  downloadsLeft?: number;
  waitsForHistory?: boolean;
}

/** What a job finds on its dates: `+` prices, `-` none yet, `o` no trading. */
export function marksOf({ dates }: PriceSupply): string {
  const marks = { available: '+', missing: '-', no_trading: 'o' } as const;
  return dates.map(({ availability }) => marks[availability]).join('');
}

/** What is supplied to jobs from a database in memory; time passes only in waits. */
export function startSupply(t: TestContext, found: Settings) {
  const time = { ms: 0 };
  const memory = openDatabase(':memory:');
  t.after(() => memory.close());
  const supply = async (setting: Setting = {}) => {
    const { database = memory, universe = 'A B C', dates = WEEK, ...others } = setting;
    const { today = TODAY, time: clock = '12:00', settings = {}, ...rest } = others;
    const context = {
      ...{ database, log: silentLog, settings: { ...found, priceHistoryDays: 0, ...settings } },
      clock: () => new Date(Date.parse(`${today}T${clock}:00.000Z`) + time.ms),
      wait: async (ms: number) => void (time.ms += ms),
    };
    const signal = new AbortController().signal;
    const asked = { dates, universe: universe.split(' '), models: [], signal, ...rest };
    const supplied = await supplyPrices(context, asked);
    const coded = supplied.warnings;
    const warnings = coded.map((one) => asWarning(one).message);
    return { ...supplied, coded, warnings, marks: marksOf(supplied) };
  };
  return { database: memory, supply, time, rows: (sql: string) => rowsAsText(memory, sql) };
}

/** A supply from Massive, whose limit of the minute is counted by the time that passes. */
export async function startMassiveSupply(
  t: TestContext,
  options: Omit<MassiveServerOptions, 'limit'> & { perMinute?: number } = {},
) {
  const { perMinute, ...others } = options;
  const now = (): number => started.time.ms;
  const limit = { requests: perMinute ?? 0, windowMs: 60_000, now };
  const server = await startMassiveServer(t, { ...others, ...(perMinute && { limit }) });
  const settings = readSettings({ MASSIVE_API_KEY: MASSIVE_KEY, MASSIVE_BASE_URL: server.url });
  const started = startSupply(t, settings);
  return { server, ...started };
}

export async function startAlphaSupply(t: TestContext, options: PriceServerOptions) {
  const server = await startPriceServer(t, options);
  const keys = { ALPHAADVANTAGE_API_KEY: ALPHA_KEY, ALPHAVANTAGE_BASE_URL: server.url };
  return { server, ...startSupply(t, readSettings(keys)) };
}
