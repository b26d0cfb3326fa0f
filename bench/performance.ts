import { limit, longestHealth, millisecondsOf, rounds, withTrackRecords } from './responses.ts';
import type { Measurement } from './support.ts';

const SIZE = { models: 20, days: 500 };
const AIM_MS = 300;
const BESIDE_AIM_MS = 100;

/** GET /performance for all models, against its limit, and what another request waits for it at most. */
export function measurePerformance(): Promise<Measurement[]> {
  return withTrackRecords(SIZE, async (server) => {
    const ask = (query: string) => millisecondsOf(`${server.url}/performance${query}`);
    const all = await rounds(() => ask(''));
    const universe = await rounds(() => ask('?benchmark=universe'));
    const waits = await rounds(async () => (await longestHealth(server, () => ask(''))).longestMs);
    const size = `${SIZE.models} models × ${SIZE.days} days`;
    return [
      limit(`/performance of ${size}`, all, AIM_MS),
      limit(`/performance of ${size} against the universe of 101 symbols`, universe, AIM_MS),
      limit('longest /health beside one of them', waits, BESIDE_AIM_MS),
    ];
  });
}
