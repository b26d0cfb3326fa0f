import { addDays } from '../src/calendar.ts';
import { besideCalibration } from './figure.ts';
import { longestBeside, millisecondsOf, withTrackRecords } from './responses.ts';
import type { BenchOptions, Measurement } from './support.ts';

const SIZE = { models: 20, days: 500 };
const ALL_MODELS = { belowMs: 300 };
const ONE_MODEL = { belowMs: 100 };
const BOUNDS = { maxMs: 15_000 };

/**
 * GET /performance for all models and for one in detail, and GET /holdings; and what another
 * request waits for them at most.
 */
export function measurePerformance(options: BenchOptions): AsyncGenerator<Measurement> {
  return withTrackRecords(SIZE, async function* (server, bare) {
    // Each request has a first date of its own, long before all model-days: none is served from
    // memory.
    let asked = 0;
    const ask = (query: string, path = '/performance') =>
      millisecondsOf(
        `${server.url}${path}?start_date=${addDays('1990-01-01', (asked += 1))}&${query}`,
      );
    const again = () => millisecondsOf(`${server.url}/performance`);
    const size = `${SIZE.models} models × ${SIZE.days} days`;
    const all = { ...ALL_MODELS, bounds: BOUNDS, ...options };
    const one = { ...ONE_MODEL, bounds: BOUNDS, ...options };
    yield await besideCalibration(`/performance of ${size}`, () => ask(''), all);
    yield await besideCalibration(
      `/performance of ${size}, again while nothing has changed`,
      again,
      one,
    );
    yield await besideCalibration(
      `/performance of ${size} over their common days`,
      () => ask('common=true'),
      all,
    );
    yield await besideCalibration(
      `/performance of ${size} against the universe of 101 symbols`,
      () => ask('benchmark=universe'),
      all,
    );
    const details = () => ask('model=model-0&details=true');
    yield await besideCalibration(
      `/performance of one model × ${SIZE.days} days with details`,
      details,
      one,
    );
    yield await besideCalibration(
      `/holdings of one model × ${SIZE.days} days`,
      () => ask('model=model-0', '/holdings'),
      one,
    );
    const beside = { server, bare, ...options };
    yield await longestBeside('longest /health beside /performance', {
      ...beside,
      work: () => ask(''),
    });
    yield await longestBeside('longest /health beside all details', {
      ...beside,
      work: () => ask('details=true'),
    });
  });
}
