import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { endWithBench, pidOf } from './support.ts';

/**
 * A helper of the bench: a program of its own that does some work per line of JSON on its stdin,
 * and prints a line of JSON for each.
 */
export interface Helper {
  pid: number;
  ask(work: object): Promise<unknown>;
  stop(): void;
}

/** Starts `node FILE`; it ends with its stdin. */
export function startHelper(file: string): Helper {
  const child = endWithBench(
    spawn(process.execPath, [new URL(file, import.meta.url).pathname], {
      stdio: ['pipe', 'pipe', 'inherit'],
    }),
  );
  child.stdin.on('error', () => {}); // whoever asks a helper that has ended gets an error of its own
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    pid: pidOf(child),
    async ask(work) {
      child.stdin.write(`${JSON.stringify(work)}\n`);
      const line = await lines.next();
      if (line.done === true) throw new Error(`${file} ended during ${JSON.stringify(work)}`);
      return JSON.parse(line.value);
    },
    stop: () => child.stdin.end(),
  };
}

/** The other end: does the work of each line in turn, then ends the process. */
export async function serveLines<Work>(work: (asked: Work) => Promise<object>): Promise<void> {
  for await (const line of createInterface({ input: process.stdin }))
    console.log(JSON.stringify(await work(JSON.parse(line) as Work)));
  process.exit();
}
