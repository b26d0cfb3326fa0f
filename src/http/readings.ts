import type { Database, Moment } from '../database/moment.ts';
import type { HttpLimits } from './limits.ts';

/** How a response is sent: nothing when it has been handed to Node already. */
type Sending = Promise<void> | undefined;

/** The moments of the responses that are being made. */
export interface Readings {
  /**
   * Gives the work a moment of its own, which is over when the work is. With too many at once, each
   * of which has files open, the work waits for another to end.
   */
  during(work: (moment: Moment) => Sending): Sending;
}

export function createReadings(
  database: Database,
  { maxReadings }: Pick<HttpLimits, 'maxReadings'>,
): Readings {
  let count = 0;
  const waiting: (() => void)[] = [];
  const end = (moment: Moment) => {
    moment.close();
    count -= 1;
    waiting.shift()?.();
  };
  const begin = (work: (moment: Moment) => Sending): Sending => {
    const moment = database.moment();
    count += 1;
    let sending: Sending;
    try {
      sending = work(moment);
      return sending?.finally(() => end(moment));
    } finally {
      if (sending === undefined) end(moment);
    }
  };
  return {
    during(work) {
      if (count < maxReadings) return begin(work);
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push(resolve);
      return promise.then(() => begin(work));
    },
  };
}
