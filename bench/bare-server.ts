import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { PLAIN, benchFolder, endWithBench, pidOf } from './support.ts';

/** Peers over HTTP: bare node:http servers in processes of their own. */

export interface BareServer {
  url: string;
  pid: number;
  stop(): void;
}

/**
 * Starts a program that defines `handle(request, response)`; `args` are its `process.argv` from 1.
 */
export async function serveBare(
  program: string,
  args: readonly string[] = [],
): Promise<BareServer> {
  const listening = `require('node:http').createServer(handle).listen(0, '127.0.0.1', function () { console.log(this.address().port); });`;
  const child = endWithBench(
    spawn(process.execPath, ['-e', program + listening, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  );
  const stop = () => void child.kill();
  return { url: `http://127.0.0.1:${await printedPort(child)}/`, pid: pidOf(child), stop };
}

/** What a program prints once it listens. Rejects if it ends before. */
export function printedPort(
  child: ChildProcessByStdio<Writable | null, Readable, null>,
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  child.stdout.once('data', (chunk) => resolve(String(chunk).trim()));
  child
    .once('error', reject)
    .once('close', () =>
      reject(new Error(`${child.spawnargs.join(' ')} ended before it listened`)),
    );
  return promise;
}

/**
 * A response as it is sent: its headers but those that Node adds to every response, and its body.
 */
export interface SameBytes {
  status: number;
  head: readonly string[];
  body: string;
}

const NODES_OWN = new Set(['date', 'connection', 'keep-alive']);

/**
 * Longer bodies are sent as bytes: to encode them again for each response would be work. Short ones
 * go out with the head as one text.
 */
const LONGEST_TEXT = 16 * 1024;

/** Makes a request and keeps the response. */
export async function sameBytesAs(url: string, init: RequestInit = {}): Promise<SameBytes> {
  const response = await fetch(url, { ...init, headers: { ...PLAIN, ...init.headers } });
  const head = [...response.headers].filter(([name]) => !NODES_OWN.has(name)).flat();
  return { status: response.status, head, body: await response.text() };
}

/**
 * The least that a server can do for a response: a bare node:http that reads the body of a request
 * to its end, and sends the same bytes, head and body, again and again.
 */
export function serveSameBytes(bytes: SameBytes): Promise<BareServer> {
  const path = join(benchFolder(), 'response.json'); // too long for an argument
  writeFileSync(path, JSON.stringify(bytes));
  return serveBare(
    `
    const { status, head, body: text } = JSON.parse(require('node:fs').readFileSync(process.argv[1], 'utf8'));
    const body = text.length > ${LONGEST_TEXT} ? Buffer.from(text) : text;
    const answer = (response) => { response.writeHead(status, head); response.end(body); };
    const handle = (request, response) => {
      if (request.method === 'GET') answer(response);
      else request.resume().on('end', () => answer(response));
    };`,
    [path],
  );
}

export async function startSameBytes(url: string): Promise<BareServer> {
  return serveSameBytes(await sameBytesAs(url));
}
