import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { weekdays } from '../src/calendar.ts';
import { nasdaq100 } from '../src/universe.ts';
import { printedPort } from './bare-server.ts';
import { timedRequest } from './samples.ts';
import {
  PROGRAM,
  type Server,
  benchFolder,
  endWithBench,
  pidOf,
  run,
  startServer,
} from './support.ts';

/**
 * A provider that takes its time, in a process of its own, and a service whose models are there.
 */

/** The last date with prices. */
export const DATE = '2025-09-16';
const TLS = new URL('../test/fixtures/tls/', import.meta.url).pathname;

export interface SlowModel {
  /** What the service's requests go to. */
  baseUrl: string;
  pid: number;
  /** How many model-days have sent their first request. */
  begun(): Promise<number>;
  /** From now on requests are answered, each in its time. */
  answer(): Promise<void>;
  stop(): void;
}

export async function startSlowModel({
  thinkingMs,
  tls,
}: {
  thinkingMs: number;
  tls: boolean;
}): Promise<SlowModel> {
  const args = [
    new URL('./slow-model.ts', import.meta.url).pathname,
    String(thinkingMs),
    ...(tls ? [TLS] : []),
  ];
  const child = endWithBench(
    spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] }),
  );
  const [port, controlPort] = (await printedPort(child)).split(' ');
  const control = async (path: string) =>
    (await timedRequest(`http://127.0.0.1:${controlPort}${path}`)).body.toString();
  return {
    baseUrl: `http${tls ? 's' : ''}://127.0.0.1:${port}/v1`,
    pid: pidOf(child),
    begun: async () => Number(await control('/begun')),
    answer: async () => void (await control('/answer')),
    stop: () => child.kill(),
  };
}

/** The built program in PROD, with models at that provider. */
export async function startProdServer({ baseUrl }: SlowModel, children: number): Promise<Server> {
  const folder = benchFolder();
  writePrices(join(folder, 'prices.csv'));
  await run(process.execPath, [PROGRAM, 'import-prices', '--as', 'raw', 'prices.csv'], {
    cwd: folder,
  });
  return startServer(
    Array.from({ length: children }, (_, index) => `model-${index}`),
    {
      folder,
      entry: { openai_base_url: baseUrl },
      env: {
        DEPLOYMENT_MODE: 'PROD',
        AUTO_DOWNLOAD_PRICE_DATA: 'false',
        MAX_PARALLEL_MODELS: String(children),
        NODE_EXTRA_CA_CERTS: join(TLS, 'certificate.pem'),
      },
    },
  );
}

/** Stored prices of the whole universe. */
function writePrices(path: string): void {
  const rows = nasdaq100.flatMap((symbol, index) =>
    weekdays('2025-08-01', DATE).map((date, day) => {
      const open = 50 + index + day;
      return [symbol, date, open, open + 2, open - 1, open + 1, 1_000_000].join(',');
    }),
  );
  writeFileSync(path, ['symbol,date,open,high,low,close,volume', ...rows].join('\n'));
}
