import { spawn } from 'node:child_process';
import { get } from 'node:http';
import { createServer } from 'node:net';
import { ITSELF, measure } from './figure.ts';
import { alternate } from './paired.ts';
import { type BenchOptions, type Measurement, PROGRAM, benchFolder, endWithBench } from './support.ts';

const AIM = { below: 2 };

/** From the start of the process to its first healthy response, against the whole life of a bare `node -e 0`. */
export async function* measureStartup({ self }: BenchOptions): AsyncGenerator<Measurement> {
  const port = await freePort();
  const cwd = benchFolder();
  const ours = async () => {
    const startedAt = performance.now();
    const child = endWithBench(spawn(process.execPath, [PROGRAM], { cwd, env: { API_PORT: String(port) }, stdio: 'ignore' }));
    while (!(await isHealthy(port)));
    const elapsed = performance.now() - startedAt;
    await new Promise((resolve) => child.once('close', resolve).kill('SIGKILL'));
    return elapsed;
  };
  const bare = async () => {
    const startedAt = performance.now();
    await new Promise((resolve) => spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }).once('close', resolve));
    return performance.now() - startedAt;
  };
  const peer = self ? ITSELF : 'node -e 0';
  yield await measure({ what: 'start to first healthy response', unit: 'ms', peer, take: alternate(ours, self ? ours : bare), aim: AIM });
}

function isHealthy(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    get({ host: '127.0.0.1', port, path: '/health', agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    }).on('error', () => setImmediate(resolve, false));
  });
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0);
  await new Promise((resolve) => probe.once('listening', resolve));
  const { port } = probe.address() as { port: number };
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
