import { startHelper } from './helper.ts';

/** Downloads in a process of its own, which delay neither the server nor the bench. */

/** What one client saw of a response. */
export interface Seen {
  /** Null where it left before there was a head. */
  status: number | null;
  /** Null where it saw none. */
  firstByteMs: number | null;
  bytes: number;
  seconds: number;
  /** False where it left after the longest time. */
  isWhole: boolean;
}

export interface Client {
  /** Reads a response without keeping it, for at most so many seconds, by default to its end; with 0, up to its first byte. */
  download(url: string, longestSeconds?: number): Promise<Seen>;
  stop(): void;
}

export function startClient(): Client {
  const { ask, stop } = startHelper('./downloads.ts');
  return {
    async download(url, longestSeconds) {
      const seen = (await ask({ url, longestSeconds })) as Seen;
      if (seen.status !== 200 && seen.status !== null) throw new Error(`${url} answered ${seen.status}`);
      return seen;
    },
    stop,
  };
}
