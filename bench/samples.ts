import { setTimeout as sleep } from 'node:timers/promises';
import { calibrate } from './calibration.ts';
import { type Figure, describePairs } from './figure.ts';
import { type Pair, type Slice, inTurn, quantile, windowsOf } from './paired.ts';
import { type Measurement, PLAIN } from './support.ts';

/**
 * Requests to a service that does other work meanwhile, in turn with a peer's; what counts are the
 * slowest of them.
 */

/** Each window of this many requests gives one pair: the 99th percentiles of both sides. */
const WINDOW = 100;
const SHARE = 0.99;
/** Before each request, so that the service has more to do than to answer these. */
const PAUSE_MS = 5;

/** What has been taken in one phase. */
export interface Samples {
  /** Milliseconds of a request to the service, and of one to the peer. */
  pairs: Pair[];
  /** Milliseconds of the calibration, which runs once per window. */
  calibrations: number[];
}

export function noSamples(): Samples {
  return { pairs: [], calibrations: [] };
}

/** One request to each after a pause; which is first alternates. */
export async function takeSample(
  { pairs, calibrations }: Samples,
  ours: Slice,
  peer: Slice,
): Promise<void> {
  const paused = (slice: Slice) => () => sleep(PAUSE_MS).then(slice);
  pairs.push(await inTurn(paused(ours), paused(peer))(pairs.length));
  if (pairs.length % WINDOW === 0) calibrations.push(await calibrate());
}

/**
 * `what` says which requests. An aim here and now is compared with the percentile of all requests.
 */
export function describeSamples(
  { what, ...figure }: Omit<Figure, 'unit'>,
  { pairs, calibrations }: Samples,
): Measurement {
  const hereMs = quantile(
    pairs.map(({ ours }) => ours),
    SHARE,
  );
  const of = `p99 of ${WINDOW} requests for ${what}`;
  const measurement = describePairs(
    { ...figure, what: of, unit: 'ms' },
    windowsOf(pairs, WINDOW, SHARE),
    { calibrations, hereMs },
  );
  return {
    ...measurement,
    what: `${measurement.what} (${pairs.length.toLocaleString('en-US')} requests to each)`,
  };
}

/** A response, and the milliseconds from its request to its last byte. */
export interface Timed {
  ms: number;
  status: number;
  body: Buffer;
}

/** Makes a request and reads the response to its end. Rejects for a status that is not expected. */
export async function timedRequest(
  url: string,
  init: RequestInit = { headers: PLAIN },
  expected: readonly number[] = [200],
): Promise<Timed> {
  const startedAt = performance.now();
  const response = await fetch(url, init);
  const body = Buffer.from(await response.arrayBuffer());
  const ms = performance.now() - startedAt;
  if (!expected.includes(response.status))
    throw new Error(`${url} answered ${response.status}: ${body.toString('utf8', 0, 200)}`);
  return { ms, status: response.status, body };
}
