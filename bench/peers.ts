import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { startHelper } from './helper.ts';
import { ask, pidOf } from './support.ts';

/** Peers: the least that a program can do for the same work. */

export const BARE_SERVER = 'bare `node:http`, same bytes';
/** Of the service's children, when no more than 100 may run side by side. */
const CHILD_NICENESS = 10;
const NODES_OWN = new Set(['date', 'connection', 'keep-alive']);

/** What answers at a URL. */
export interface Target {
  url: string;
  pid: number;
  stop(): void | Promise<void>;
}

/**
 * A bare node:http server that sends the bytes of this response, head and body, again and again.
 */
export async function serveSameBytes(url: string): Promise<Target> {
  const { headers, body } = await ask(url);
  const head = [...headers].filter(([name]) => !NODES_OWN.has(name)).flat();
  const { ask: tell, stop } = startHelper('./bare-server.ts');
  return { ...(await tell({ head, text: body.toString() })), stop };
}

/** Starts an empty Node process; resolves when it has ended. */
export async function runEmpty({ isChild = false } = {}): Promise<void> {
  const stdio = isChild ? 'pipe' : 'ignore';
  const child = spawn(process.execPath, ['-e', '0'], { env: {}, stdio });
  if (isChild) setPriority(pidOf(child), CHILD_NICENESS);
  await once(child, 'close');
}
