import { spawn } from 'node:child_process';
import { get } from 'node:http';
import { createServer } from 'node:net';
import { type Measurement, benchFolder, inTurn } from './support.ts';

const PROGRAM = new URL('../dist/server.js', import.meta.url).pathname;
const ROUNDS = 11;
const AIM = 3;

/** From the start of the process to its first healthy answer, against a bare `node -e 0`. */
export async function measureStartup(): Promise<Measurement> {
  const port = await freePort();
  const ours = async () => {
    const startedAt = performance.now();
    const child = spawn(process.execPath, [PROGRAM], {
      cwd: benchFolder(),
      env: { API_PORT: String(port) },
      stdio: 'ignore',
    });
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
  const figures = await inTurn(ROUNDS, ours, bare);
  return {
    what: 'start to first healthy answer, milliseconds',
    ours: figures.ours.toFixed(0),
    peer: `${figures.peer.toFixed(0)} (node -e 0)`,
    ratio: figures.ratio.toFixed(2),
    aim: `< ${AIM}`,
    met: figures.ratio < AIM,
  };
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
