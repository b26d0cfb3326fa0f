import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Models that answer over HTTP, a little late, and remember what they were asked. */
export interface TortureModels {
  url: string;
  /** The same model-day may be asked again in another job. */
  beginJob(): void;
  /** The service has just died: the last step of each model-day may be asked once more. */
  noteKill(): void;
  /** Throws when a step was asked more often than kills explain. */
  check(): { requests: number; repeated: number };
  stop(): void;
}

const MOST_DELAY_MS = 40;

export async function startModels({
  seed,
  symbols,
}: {
  seed: number;
  symbols: readonly string[];
}): Promise<TortureModels> {
  const asked = new Map<string, number>();
  const allowed = new Map<string, number>();
  let lastSteps = new Map<string, number>();
  let job = 0;
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const { model, messages } = JSON.parse(text);
    const date = /Today's date: (\S+)/.exec(
      messages.map(({ content }: any) => content).join('\n'),
    )?.[1];
    const step = messages.filter(({ role }: any) => role === 'assistant').length;
    const modelDay = `${job} ${model} ${date}`;
    asked.set(`${modelDay} ${step}`, (asked.get(`${modelDay} ${step}`) ?? 0) + 1);
    lastSteps.set(modelDay, Math.max(step, lastSteps.get(modelDay) ?? 0));
    const dice = createHash('sha256').update(`${seed} ${model} ${date} ${step}`).digest();
    await sleep(((dice[0] as number) / 256) * MOST_DELAY_MS);
    const message = answerTo(step, dice, symbols);
    const usage = { prompt_tokens: text.length, completion_tokens: 10 };
    response.end(JSON.stringify({ choices: [{ message, finish_reason: 'stop' }], usage }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    beginJob() {
      job += 1;
      lastSteps = new Map();
    },
    noteKill() {
      for (const [modelDay, step] of lastSteps) {
        const key = `${modelDay} ${step}`;
        allowed.set(key, (allowed.get(key) ?? 0) + 1);
      }
    },
    check() {
      const wrong = [...asked].filter(([key, times]) => times > 1 + (allowed.get(key) ?? 0));
      if (wrong.length > 0)
        throw new Error(`Steps that were paid twice: ${wrong.map(([key]) => key).join(', ')}`);
      const requests = [...asked.values()].reduce((sum, times) => sum + times, 0);
      return { requests, repeated: requests - asked.size };
    },
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Looks first, then trades, sometimes more than it can; the same for the same dice. */
function answerTo(step: number, dice: Buffer, symbols: readonly string[]): object {
  const symbol = symbols[(dice[1] as number) % symbols.length] as string;
  const amount = 1 + ((dice[2] as number) % 20);
  const call = (name: string, args: object, index = 0) => ({
    id: `call_${step}_${index}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  });
  if (step === 0)
    return {
      role: 'assistant',
      content: null,
      tool_calls: [call('get_portfolio', {}), call('get_price', { symbol }, 1)],
    };
  if (step < 2 + ((dice[3] as number) % 3)) {
    const side = (dice[4] as number) % 3 === 0 ? 'sell' : 'buy';
    return { role: 'assistant', content: 'I trade.', tool_calls: [call(side, { symbol, amount })] };
  }
  return { role: 'assistant', content: `Done after ${step} steps.` };
}
