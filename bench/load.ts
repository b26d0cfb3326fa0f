import { startHelper } from './helper.ts';

/** What a slice of load gave. */
export interface Load {
  perSecond: number;
  requests: number;
  errors: number;
}

export interface Loader {
  /** Loads a URL for a slice. */
  load(url: string, slice: { connections: number; ms: number }): Promise<Load>;
  stop(): void;
}

/**
 * Starts a load generator in a process of its own, so that each slice begins at once and on open
 * connections.
 */
export function startLoader(): Loader {
  const { ask, stop } = startHelper('./loader.ts');
  return {
    async load(url, slice) {
      const load = (await ask({ url, ...slice })) as Load;
      if (load.errors > 0)
        throw new Error(`${load.errors} of ${load.requests} responses to ${url} were not 200`);
      return load;
    },
    stop,
  };
}
