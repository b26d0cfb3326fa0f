import { besideCalibration } from './figure.ts';
import { longestBeside, millisecondsOf, withTrackRecords } from './responses.ts';
import type { BenchOptions, Measurement } from './support.ts';

const SIZE = { models: 50, days: 250 };
const AIM = { belowMs: 300 };

/**
 * GET /comparison of all pairs, against its limit, and what another request waits for it at most.
 */
export function measureComparison(options: BenchOptions): AsyncGenerator<Measurement> {
  return withTrackRecords(SIZE, async function* (server, bare) {
    const ask = () => millisecondsOf(`${server.url}/comparison`);
    yield await besideCalibration(
      `/comparison of all pairs of ${SIZE.models} models over ${SIZE.days} days`,
      ask,
      { ...AIM, ...options },
    );
    yield await longestBeside('longest /health beside it', { server, bare, work: ask, ...options });
  });
}
