import { type Step, replyTo } from '../../test/support/dialect-servers.ts';
import {
  type ModelRequest,
  type Reply,
  fails,
  startModelServer,
} from '../../test/support/model-server.ts';
import { until } from '../../test/support/until.ts';
import type { Side } from './side.ts';

/**
 * The provider of the PROD story: every model plays the same days in its own dialect, and one fails
 * in several ways.
 */

export interface Provider {
  baseUrl: string;
  /**
   * Holds back the reply to the second request of a model's day. `reached` resolves when the request
   * has arrived; `release` sends the reply.
   */
  hold(model: string, date: string): { reached(): Promise<unknown>; release(): void };
}

export async function startProvider(side: Side): Promise<Provider> {
  const counts = new Map<string, number>();
  const held = new Map<string, () => Promise<void>>();
  const { baseUrl } = await startModelServer(side.t, async (request) => {
    const date = /Today's date: (\d{4}-\d\d-\d\d)/.exec(JSON.stringify(request.body))?.[1] ?? '';
    const key = `${request.body.model} ${date}`;
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    if (count === 2) await held.get(key)?.();
    return request.body.model === 'faulty'
      ? failing(request, { date, count })
      : replyTo(request, dayOf(request.body.model, date));
  });
  const hold: Provider['hold'] = (model, date) => {
    const { promise, resolve: release } = Promise.withResolvers<void>();
    let isReached = false;
    held.set(`${model} ${date}`, () => ((isReached = true), promise));
    return { reached: () => until(`${model} to be asked on ${date}`, () => isReached), release };
  };
  return { baseUrl, hold };
}

/**
 * Its first day is refused until it is run again, the second succeeds after a failed try, and then
 * its key is refused. No day fails in two jobs, because the order of such failures is that of the
 * jobs' ids, which are random.
 */
function failing(request: ModelRequest, { date, count }: { date: string; count: number }): Reply {
  if (date === '2025-10-06' && count === 1)
    return fails(400, 'This model does not take these words');
  if (date === '2025-10-06') return replyTo(request, dayOf('faulty', date));
  if (date === '2025-10-07')
    return count === 1 ? fails(503, 'overloaded') : replyTo(request, dayOf('faulty', date));
  return fails(401, 'Incorrect API key provided');
}

/**
 * A day: looking, trading with some mistakes, and a summary. On every fifth date nothing is traded.
 */
function dayOf(model: string, date: string): Step[] {
  const day = Number(date.slice(-2));
  const thought = `It is ${date}, and ${model} thinks.`;
  if (day % 5 === 4) return [{ text: 'Nothing is worth a trade.', thought, calls: [] }];
  const symbol = ['AAPL', 'MSFT', 'KO', 'NVDA'][(day + model.length) % 4] as string;
  const looks: Step['calls'] = [
    ['get_portfolio', {}],
    ['get_price', { symbol, date }],
    ['get_price_history', { symbol, days: 3 }],
    ['calculate', { expression: '2^0.5+1/3' }],
  ];
  const trades: Step['calls'] = [
    ['buy', { symbol, amount: (day % 4) + 1 }],
    ['buy', { symbol: 'NOPE', amount: 1 }],
    ['sell', { symbol: 'KO', amount: day % 2 === 0 ? 1 : 9_999 }],
    ['buy', { symbol, amount: -1 }],
    ['no_such_tool', {}],
    ...(model === 'chat'
      ? [['write_note', { text: `${date}: hold ${symbol}.` }] satisfies [string, object]]
      : []),
  ];
  return [
    { text: 'I look first.', thought, calls: looks },
    { text: `I trade ${symbol}.`, thought, calls: trades },
    { text: `Done for ${date}.`, thought: '', calls: [] },
  ];
}
