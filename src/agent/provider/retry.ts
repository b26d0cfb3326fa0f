import { backOff, spread } from '../../back-off.ts';
import type { HttpResponse } from '../../http-client.ts';

/** The longest wait between two tries, whatever the provider requests. */
export const MAX_WAIT_MS = 60_000;

export interface Wait {
  /** The wait before the second try; it doubles with every further one. */
  baseDelayMs: number;
  /** The wait that the provider requests. */
  retryAfterMs?: number | undefined;
}

/**
 * Milliseconds to wait after a number of failed tries: exponential, and spread; a wait that the
 * provider requests takes precedence.
 */
export function waitAfter(tries: number, { baseDelayMs, retryAfterMs = 0 }: Wait): number {
  return Math.min(
    MAX_WAIT_MS,
    Math.max(spread(backOff(tries, { firstMs: baseDelayMs })), retryAfterMs),
  );
}

/**
 * `Retry-After` in seconds or as a date, or OpenAI's `retry-after-ms`, in milliseconds; undefined
 * without a valid one.
 */
export function readRetryAfter(headers: HttpResponse['headers'], now: number): number | undefined {
  const exact = asNumber(headers['retry-after-ms']);
  if (exact !== undefined) return exact;
  const text = headers['retry-after'];
  const seconds = asNumber(text);
  if (seconds !== undefined) return seconds * 1000;
  const at = Date.parse(text ?? '');
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

function asNumber(text: unknown): number | undefined {
  return typeof text === 'string' && /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : undefined;
}
