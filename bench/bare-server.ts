import { spawn } from 'node:child_process';
import { PLAIN, endWithBench } from './support.ts';

/** Peers over HTTP: bare node:http servers in processes of their own. */

export interface BareServer {
  url: string;
  pid: number;
  stop(): void;
}

/** Starts a program that defines `handle(request, response)`; `args` are its `process.argv` from 1. */
export async function serveBare(program: string, args: readonly string[] = []): Promise<BareServer> {
  const listening = `require('node:http').createServer(handle).listen(0, '127.0.0.1', function () { console.log(this.address().port); });`;
  const child = endWithBench(spawn(process.execPath, ['-e', program + listening, ...args], { stdio: ['ignore', 'pipe', 'inherit'] }));
  const stop = () => void child.kill();
  const port = await new Promise((resolve) => child.stdout.once('data', (chunk) => resolve(String(chunk).trim())));
  return { url: `http://127.0.0.1:${port}/`, pid: child.pid as number, stop };
}

/** A response as it is sent: its headers but those that Node adds to every response, and its body. */
export interface SameBytes {
  head: readonly string[];
  body: string;
}

const NODES_OWN = new Set(['date', 'connection', 'keep-alive']);

/** Requests a URL and keeps the response. */
export async function sameBytesAs(url: string): Promise<SameBytes> {
  const response = await fetch(url, { headers: PLAIN });
  const head = [...response.headers].filter(([name]) => !NODES_OWN.has(name)).flat();
  return { head, body: await response.text() };
}

/** The least that a server can do for a response: a bare node:http that sends the same bytes, head and body, again and again. */
export function serveSameBytes({ head, body }: SameBytes): Promise<BareServer> {
  return serveBare(`
    const head = ${JSON.stringify(head)}, body = ${JSON.stringify(body)};
    const handle = (request, response) => { response.writeHead(200, head); response.end(body); };`);
}

export async function startSameBytes(url: string): Promise<BareServer> {
  return serveSameBytes(await sameBytesAs(url));
}
