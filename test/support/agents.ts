import { readFileSync } from 'node:fs';
import type { Start } from '../../src/protocol.ts';
import { type ChildPipe, asChild, asProcess } from './children.ts';

/** The script of a model's day: its messages in turn, each with its tool calls. */
export type Script = Record<string, [tool: string, args: unknown][][]>;

/** The start of a model-day of a simulated model. */
export const simulatedStart: Omit<Start, 'pastMessages'> = {
  type: 'start',
  signature: 'model-a',
  model: { kind: 'simulated' },
  maxSteps: 5,
  brief: { date: '2025-01-06', cash: 10_000, portfolioValue: 10_000, holdings: [], quotes: [], costs: null },
  tools: [],
};

/** A fixture program that behaves in one particular way, as text. */
export function agentFixture(name: string): string {
  return readFileSync(new URL(`../fixtures/agents/${name}.cjs`, import.meta.url), 'utf8');
}

/**
 * An agent that follows a script instead of asking a model: keys are `model date` or `*`; a day that is not in the script
 * ends without a trade. A step `['fail', 'words']` fails the day, `['wait', milliseconds]` waits, and
 * `['killed', N]` is a SIGKILL for a child that has not heard of N past messages. With `says` it says that, whatever it does.
 * It runs inside the process of the tests.
 */
export function scriptedAgent(script: Script, says?: string): string {
  return asChild(followScript, { script, says });
}

/** The same in a process of its own. */
export function scriptedProcess(script: Script, says?: string): string {
  return asProcess(followScript, { script, says });
}

/** One message per step, each with its tool calls; continues where an earlier process ended. */
async function followScript(pipe: ChildPipe, { script, says }: { script: Script; says?: string | undefined }): Promise<void> {
  const { signature, brief, pastMessages } = await pipe.receive();
  let answered = 0;
  let isOver = false;
  for (let index = 0; index < pastMessages; index += 1) {
    const { message } = await pipe.receive();
    if (message.role === 'assistant') answered += 1;
    isOver = message.role === 'assistant' && message.toolCalls.length === 0;
  }
  pipe.send({ type: 'prompt', messages: [{ role: 'user', content: JSON.stringify(brief) }] });
  const silent = { reasoning: null, usage: null, note: null };
  let failure: unknown;
  for (const calls of script[`${signature} ${brief.date}`] ?? script['*'] ?? []) {
    const [name, args] = calls[0] ?? [];
    if (name === 'fail') failure = args;
    else if (name === 'wait') await pipe.sleep(args as number);
    else if (name === 'killed') pastMessages < (args as number) && (await pipe.killed());
    else if (answered > 0) answered -= 1;
    else {
      const toolCalls = calls.map(([name, args], index) => ({ id: String(index), name, arguments: JSON.stringify(args) }));
      pipe.send({ type: 'answer', content: says ?? 'I trade.', toolCalls, ...silent });
      await pipe.receive();
    }
  }
  if (failure !== undefined) return pipe.send({ type: 'outcome', result: { status: 'failed', error: failure } });
  if (!isOver) pipe.send({ type: 'answer', content: says ?? 'Done.', toolCalls: [], ...silent });
  pipe.send({ type: 'outcome', result: { status: 'finished', summary: says ?? 'Done.' } });
}
