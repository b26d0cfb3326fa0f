import type { CalendarDate, Clock } from '../calendar.ts';
import type { Database } from '../database/database.ts';
import type { Log } from '../log.ts';
import type { Settings } from '../settings.ts';
import type { DownloadContext } from './download.ts';
import type { PatienceOptions } from './patience.ts';

export interface PriceContext {
  database: Database;
  clock: Clock;
  log: Log;
  settings: Settings;
  /** Replaced in tests, which do not wait. */
  wait?: PatienceOptions['wait'];
}

export interface PriceRequest {
  /** In order; none in the future. */
  dates: readonly CalendarDate[];
  universe: readonly string[];
  /** The models whose holdings are supplied with prices too, where possible. */
  models: readonly string[];
  signal: AbortSignal;
  /** How many downloads the provider still allows, where that is known. */
  downloadsLeft?: number | null;
  /**
   * Whether limits are waited out for the trading days before the first date too, though the dates
   * are complete.
   */
  waitsForHistory?: boolean;
  onProgress?: DownloadContext['onProgress'];
}
