import { spawn } from 'node:child_process';
import { PLAIN } from './support.ts';

/** Peers over HTTP: bare node:http servers in processes of their own. */

export interface BareServer {
  url: string;
  pid: number;
  stop(): void;
}

/** Starts a program that defines `handle(request, response)`; `args` are its `process.argv` from 1. */
export async function serveBare(program: string, args: readonly string[] = []): Promise<BareServer> {
  const listening = `require('node:http').createServer(handle).listen(0, '127.0.0.1', function () { console.log(this.address().port); });`;
  const child = spawn(process.execPath, ['-e', program + listening, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const stop = () => void child.kill();
  process.once('exit', stop);
  const port = await new Promise((resolve) => child.stdout.once('data', (chunk) => resolve(String(chunk).trim())));
  return { url: `http://127.0.0.1:${port}/`, pid: child.pid as number, stop };
}

/** The least that a server can do for this response: a bare node:http that sends the same bytes, head and body, again and again. */
export async function startSameBytes(url: string): Promise<BareServer> {
  const response = await fetch(url, { headers: PLAIN });
  const own = new Set(['date', 'connection', 'keep-alive']); // Node's own, which it adds to the peer's too
  const head = [...response.headers].filter(([name]) => !own.has(name)).flat();
  const body = await response.text();
  return serveBare(`
    const head = ${JSON.stringify(head)}, body = ${JSON.stringify(body)};
    const handle = (request, response) => { response.writeHead(200, head); response.end(body); };`);
}
