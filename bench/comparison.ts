import { join } from 'node:path';
import { limit, millisecondsOf, rounds, waitsBeside } from './responses.ts';
import { type Measurement, benchFolder, startServer } from './support.ts';
import { fillWithTrackRecords } from './track-records.ts';

const MODELS = 50;
const DAYS = 250;
const AIM_MS = 300;
const BESIDE_AIM_MS = 50;

/** GET /comparison of all pairs, against its limit, and what another request waits for it at most. */
export async function measureComparison(): Promise<Measurement[]> {
  const folder = benchFolder();
  fillWithTrackRecords(join(folder, 'data/jobs_dev.db'), { models: MODELS, days: DAYS });
  const server = await startServer(['model-0'], { folder });
  const ask = () => millisecondsOf(`${server.url}/comparison`);
  const all = await rounds(ask);
  const waits = await waitsBeside(server.url, ask);
  await server.stop();
  return [
    limit(`/comparison of all pairs of ${MODELS} models over ${DAYS} days`, all, AIM_MS),
    limit('longest /health beside it', waits, BESIDE_AIM_MS),
  ];
}
