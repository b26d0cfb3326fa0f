import { addDays } from '../src/calendar.ts';
import { limit, longestHealth, millisecondsOf, rounds, withTrackRecords } from './responses.ts';
import type { Measurement } from './support.ts';

const SIZE = { models: 20, days: 500 };
const AIM_MS = 300;
const ONE_MODEL_AIM_MS = 100;
const BESIDE_AIM_MS = 100;

/** GET /performance for all models and for one in detail, and GET /holdings; and what another request waits for them at most. */
export function measurePerformance(): Promise<Measurement[]> {
  return withTrackRecords(SIZE, async (server) => {
    // Each request has a first date of its own, long before all model-days: none is served from memory.
    let asked = 0;
    const ask = (query: string, path = '/performance') =>
      millisecondsOf(`${server.url}${path}?start_date=${addDays('2000-01-01', (asked += 1))}&${query}`);
    const again = () => millisecondsOf(`${server.url}/performance`);
    const all = await rounds(() => ask(''));
    await again();
    const kept = await rounds(again);
    const common = await rounds(() => ask('common=true'));
    const details = await rounds(() => ask('model=model-0&details=true'));
    const holdings = await rounds(() => ask('model=model-0', '/holdings'));
    const universe = await rounds(() => ask('benchmark=universe'));
    const waits = await rounds(async () => (await longestHealth(server, () => ask(''))).longestMs);
    const waitsForAllDetails = await rounds(async () => (await longestHealth(server, () => ask('details=true'))).longestMs);
    const size = `${SIZE.models} models × ${SIZE.days} days`;
    return [
      limit(`/performance of ${size}`, all, AIM_MS),
      limit(`/performance of ${size}, again while nothing has changed`, kept, ONE_MODEL_AIM_MS),
      limit(`/performance of ${size} over their common days`, common, AIM_MS),
      limit(`/performance of one model × ${SIZE.days} days with details`, details, ONE_MODEL_AIM_MS),
      limit(`/holdings of one model × ${SIZE.days} days`, holdings, ONE_MODEL_AIM_MS),
      limit(`/performance of ${size} against the universe of 101 symbols`, universe, AIM_MS),
      limit('longest /health beside one of them', waits, BESIDE_AIM_MS),
      limit('longest /health beside all details', waitsForAllDetails, BESIDE_AIM_MS),
    ];
  });
}
