import { startHelper } from './helper.ts';

/** Downloads by a process of its own, so that they delay neither the server nor the bench. */

/** What one client saw of a response. */
export interface Seen {
  /** Null if it left before the head of the response arrived. */
  status: number | null;
  /** Null if none arrived. */
  firstByteMs: number | null;
  bytes: number;
  seconds: number;
  /** False if it left before the end. */
  isWhole: boolean;
}

export interface Client {
  /**
   * Reads a response without keeping it: to its end, but no longer than `longestSeconds`; only its
   * first byte if that is 0.
   */
  download(url: string, longestSeconds?: number): Promise<Seen>;
  stop(): void;
}

export function startClient(): Client {
  const { ask, stop } = startHelper('./downloads.ts');
  return {
    async download(url, longestSeconds) {
      const seen = (await ask({ url, longestSeconds })) as Seen;
      if (seen.status !== 200 && seen.status !== null)
        throw new Error(`${url} answered ${seen.status}`);
      return seen;
    },
    stop,
  };
}
