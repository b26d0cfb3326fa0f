import { limit, longestHealth, millisecondsOf, rounds, withTrackRecords } from './responses.ts';
import type { Measurement } from './support.ts';

const SIZE = { models: 50, days: 250 };
const AIM_MS = 300;
const BESIDE_AIM_MS = 50;

/** GET /comparison of all pairs, against its limit, and what another request waits for it at most. */
export function measureComparison(): Promise<Measurement[]> {
  return withTrackRecords(SIZE, async (server) => {
    const ask = () => millisecondsOf(`${server.url}/comparison`);
    const all = await rounds(ask);
    const waits = await rounds(async () => (await longestHealth(server, ask)).longestMs);
    return [
      limit(`/comparison of all pairs of ${SIZE.models} models over ${SIZE.days} days`, all, AIM_MS),
      limit('longest /health beside it', waits, BESIDE_AIM_MS),
    ];
  });
}
