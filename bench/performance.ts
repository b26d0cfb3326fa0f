import { join } from 'node:path';
import { limit, millisecondsOf, rounds, waitsBeside } from './responses.ts';
import { type Measurement, benchFolder, startServer } from './support.ts';
import { fillWithTrackRecords } from './track-records.ts';

const MODELS = 20;
const DAYS = 500;
const AIM_MS = 300;
const BESIDE_AIM_MS = 100;

/** GET /performance for all models, against its limit, and what another request waits for it at most. */
export async function measurePerformance(): Promise<Measurement[]> {
  const folder = benchFolder();
  fillWithTrackRecords(join(folder, 'data/jobs_dev.db'), { models: MODELS, days: DAYS });
  const server = await startServer(['model-0'], { folder });
  const ask = (query: string) => millisecondsOf(`${server.url}/performance${query}`);
  const all = await rounds(() => ask(''));
  const universe = await rounds(() => ask('?benchmark=universe'));
  const waits = await waitsBeside(server.url, () => ask(''));
  await server.stop();
  const size = `${MODELS} models × ${DAYS} days`;
  return [
    limit(`/performance of ${size}`, all, AIM_MS),
    limit(`/performance of ${size} against the universe of 101 symbols`, universe, AIM_MS),
    limit('longest /health beside one of them', waits, BESIDE_AIM_MS),
  ];
}
