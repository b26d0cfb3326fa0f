import { fork } from 'node:child_process';
import { once } from 'node:events';
import { endWithBench } from './support.ts';

/** A program of the bench in a process of its own, which answers each message with one. */
export interface Helper<Work> {
  ask(work: Work): Promise<any>;
  stop(): void;
}

/** Starts a helper. Its argument is an object, in JSON. */
export function startHelper<Work extends object>(file: string, options: object = {}): Helper<Work> {
  const child = endWithBench(fork(new URL(file, import.meta.url), [JSON.stringify(options)]));
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${file} ended with ${code}`);
  });
  ended.catch(() => {}); // whoever asks then learns of it
  return {
    async ask(work) {
      const answered = once(child, 'message');
      child.send(work);
      return (await Promise.race([answered, ended]))[0];
    },
    stop: () => child.disconnect(),
  };
}

/** The other end. It ends with the bench. */
export function serveBench<Work>(answer: (work: Work) => Promise<unknown>): void {
  process.on('message', async (work: Work) => process.send?.(await answer(work)));
  process.once('disconnect', () => process.exit());
}
