import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { type EventLoop, eventLoop } from '../../src/basics/event-loop.ts';
import { createPace } from '../../src/children/pacing.ts';

/**
 * An event loop whose time passes only here: each round takes what the list says next, then
 * nothing.
 */
function loopOf(rounds: number[] = []): EventLoop & { spend: (ms: number) => void } {
  let at = 0;
  return {
    now: () => at,
    spend: (ms) => void (at += ms),
    sleep: async (ms) => void (at += ms),
    round: async () => void (at += rounds.shift() ?? 0),
    after: () => () => {},
  };
}

/** When each of some pieces of work begins, asked for all at once; each blocks so long. */
async function startsOf(blocks: readonly number[], rounds?: number[]): Promise<number[]> {
  const loop = loopOf(rounds);
  const pace = createPace(loop);
  const starts: number[] = [];
  const work = (ms: number) => () => {
    starts.push(loop.now());
    loop.spend(ms);
  };
  await Promise.all(blocks.map((ms) => pace.inTurn(work(ms))));
  return starts;
}

const paces: [name: string, blocks: number[], rounds: number[], starts: number[]][] = [
  ['the first begins in the next round', [2], [], [0]],
  [
    'the event loop is left free for as long as a start blocked it',
    [2, 10, 30, 1],
    [],
    [0, 4, 24, 84],
  ],
  ['no start while other work is being done', [2, 2], [1, 9, 9, 1], [1, 24]],
  ['no start waits for ever for other work', [2, 2], Array(100).fill(10), [250, 504]],
  ['a very long start delays the next one no longer', [5_000, 2], [], [0, 5_250]],
];
for (const [name, blocks, rounds, starts] of paces)
  test(`starts take turns: ${name}`, async () =>
    assert.deepEqual(await startsOf(blocks, rounds), starts));

test('no turn is given while as many children start as may, until one has started or takes too long', async () => {
  const stuck: (() => void)[] = [];
  const after = (_ms: number, call: () => void) => {
    stuck.push(call);
    return () => {};
  };
  const { inTurn, starting } = createPace({ ...loopOf(), after }, 2);
  const order: string[] = [];
  const [first] = [starting(), starting()];
  const turns = ['third', 'fourth'].map((name) =>
    inTurn(() => {
      order.push(name);
      starting();
    }),
  );
  await setImmediate();
  assert.deepEqual(order, []);
  first?.();
  first?.(); // also says that it has ended
  await turns[0];
  await setImmediate();
  assert.deepEqual(order, ['third']);
  stuck[1]?.();
  await turns[1];
  assert.deepEqual(order, ['third', 'fourth']);
});

test('urgent work comes before all that waits', async () => {
  const { inTurn } = createPace(loopOf());
  const order: string[] = [];
  const note = (name: string) => () => void order.push(name);
  const urgent = () => inTurn(note('urgent'), { isUrgent: true });
  await Promise.all([
    inTurn(() => {
      order.push('first');
      return urgent();
    }),
    inTurn(note('second')),
    inTurn(note('third')),
  ]);
  assert.deepEqual(order, ['first', 'urgent', 'second', 'third']);
});

test('what fails in its turn rejects, and the next has its turn', async () => {
  const { inTurn } = createPace(loopOf());
  const broken = inTurn(() => {
    throw new Error('EAGAIN');
  });
  const next = inTurn(async () => 'started');
  await assert.rejects(broken, /EAGAIN/);
  assert.equal(await next, 'started');
});

test('the event loop of the process goes round once, and calls nothing that was cancelled', async () => {
  const events: string[] = [];
  globalThis.setImmediate(() => events.push('round'));
  await eventLoop.round();
  const cancel = eventLoop.after(1, () => events.push('cancelled'));
  await new Promise<void>((resolve) => {
    eventLoop.after(1, () => events.push('called'));
    eventLoop.after(2, resolve);
    cancel();
  });
  assert.deepEqual(events, ['round', 'called']);
});
