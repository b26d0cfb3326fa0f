import { setTimeout as sleep } from 'node:timers/promises';
import { backOff } from '../back-off.ts';
import type { ProviderResponse } from './provider.ts';

/** The first wait at a short limit; it doubles with every further try of the same request. */
const FIRST_LIMIT_WAIT_MS = 2_000;
const MAX_LIMIT_WAIT_MS = 60_000;
/** How often one request is put off: `Retry-After: 0` may be all that a provider says. */
const MAX_LIMITS = 100;
/** How often an unreachable provider is tried again, after waits that double. */
const MAX_TRIES = 3;
const FIRST_RETRY_WAIT_MS = 500;

export interface PatienceOptions {
  /** The longest total wait for short limits. */
  maxLimitWaitMs: number;
  signal: AbortSignal;
  /** Replaced in tests, which do not wait. */
  wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Repeats a request until the provider answers it or further tries are pointless. */
export interface Patience {
  /** With `waits` false a short limit is not waited out. */
  ask<Value>(
    request: () => Promise<ProviderResponse<Value>>,
    options?: { waits?: boolean },
  ): Promise<ProviderResponse<Value>>;
  /** The total wait for short limits so far. */
  readonly waitedMs: number;
  /** How many requests were made, with those repeated. */
  readonly requests: number;
}

/**
 * Short limits are waited out within the total allowed, as long as the provider asks; where it does
 * not say, as long as the limit before took to pass, and longer from try to try. An unreachable
 * provider is tried a few times.
 */
export function createPatience({
  maxLimitWaitMs,
  signal,
  wait = sleepUnlessAborted,
}: PatienceOptions): Patience {
  let waitedMs = 0;
  let requests = 0;
  let lastLimitMs = FIRST_LIMIT_WAIT_MS;
  return {
    get waitedMs() {
      return waitedMs;
    },
    get requests() {
      return requests;
    },
    async ask(request, { waits = true } = {}) {
      const firstMs = lastLimitMs;
      let limits = 0;
      let limitMs = 0;
      for (let tries = 1; ; tries += 1) {
        requests += 1;
        const response = await request();
        if (response.problem !== 'short_limit' && limitMs > 0)
          lastLimitMs = Math.max(FIRST_LIMIT_WAIT_MS, Math.min(limitMs, MAX_LIMIT_WAIT_MS));
        if (signal.aborted) return response;
        const guessMs = backOff(limits + 1, { firstMs, maxMs: MAX_LIMIT_WAIT_MS });
        const limitWaitMs =
          (response.problem === undefined ? undefined : response.retryAfterMs) ?? guessMs;
        if (
          response.problem === 'short_limit' &&
          waits &&
          limits < MAX_LIMITS &&
          waitedMs + limitWaitMs <= maxLimitWaitMs
        ) {
          limits += 1;
          limitMs += limitWaitMs;
          waitedMs += limitWaitMs;
          await wait(limitWaitMs, signal);
          tries = 0; // a limit is not a failure
        } else if (response.problem === 'unreachable' && tries < MAX_TRIES) {
          await wait(backOff(tries, { firstMs: FIRST_RETRY_WAIT_MS }), signal);
        } else return response;
      }
    },
  };
}

async function sleepUnlessAborted(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}
