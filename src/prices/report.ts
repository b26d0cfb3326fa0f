import type { CalendarDate } from '../calendar.ts';
import type { Problem, RefusedBar } from './provider.ts';

/** What the downloads from one provider came to. */
export interface DownloadReport {
  /** What one download supplies. */
  unit: 'symbol' | 'day';
  /** The setting that holds the provider's key. */
  keyVariable: string;
  wanted: number;
  /** Symbols, or dates: those that were wanted. */
  downloaded: string[];
  /** Why the downloads ended before the last one. */
  stop: { problem: Problem; message: string } | null;
  /** Symbols that the provider does not know. */
  unknown: string[];
  /**
   * Symbols, dates or lists (of splits, of dividends) whose response could not be read, with the
   * reason.
   */
  unreadable: Map<string, string>;
  /** Whether the provider limits more than the last 100 bars to paying customers. */
  isFullRefused: boolean;
  /** Bars that differ from those stored, by symbol. */
  revisions: Map<string, number>;
  /** Implausible bars, which were not stored. */
  refusedBars: RefusedBar[];
  /** Bars of symbols that were not asked for. */
  others: number;
  /** Symbols whose synthetic prices were replaced. */
  syntheticReplaced: string[];
  /** Dates that the customer's plan does not include, and the provider's words for it. */
  beyond: { dates: CalendarDate[]; message: string };
  /** Dates of which bars may still be published. */
  unpublished: CalendarDate[];
  /** Lists that the customer's plan does not include, with the provider's words. */
  withoutActions: Map<'splits' | 'dividends', string>;
  /** Splits and dividends that cannot be used, with the reason. */
  refusedActions: { symbol: string; reason: string }[];
  /** How many others cannot be read, outside the dates asked for. */
  skippedActions: number;
  /**
   * The trading days before a date: how many are wanted, and how many have prices. Null where
   * nothing was asked for them.
   */
  history: { before: CalendarDate; wanted: number; found: number } | null;
}

export function emptyReport(unit: DownloadReport['unit'], keyVariable: string): DownloadReport {
  return {
    unit,
    keyVariable,
    wanted: 0,
    downloaded: [],
    stop: null,
    unknown: [],
    unreadable: new Map(),
    isFullRefused: false,
    revisions: new Map(),
    refusedBars: [],
    others: 0,
    syntheticReplaced: [],
    beyond: { dates: [], message: '' },
    unpublished: [],
    withoutActions: new Map(),
    refusedActions: [],
    skippedActions: 0,
    history: null,
  };
}

/** Adds to a count by symbol. */
export function addTo(counts: Map<string, number>, symbols: readonly string[]): void {
  for (const symbol of symbols) counts.set(symbol, 1 + (counts.get(symbol) ?? 0));
}
