import { messageOf } from '../domain.ts';
import {
  type ChildMessage,
  type Outcome,
  type Start,
  type ToolResults,
  createLineReader,
  decodeLine,
  encodeLine,
  startSchema,
  toolResultsSchema,
} from '../protocol.ts';
import type { ChatMessage, Model } from './model.ts';
import { openingMessages } from './prompt.ts';
import { createSimulatedModel } from './simulated-model.ts';

/** The child's two ends of the pipe. */
interface Pipe {
  send(message: ChildMessage): void;
  receive(): Promise<string>;
}

/** The life of a child process: one start line in, one model-day, one outcome out. */
export async function runModelDay(): Promise<void> {
  const pipe = openPipe();
  let result: Outcome;
  try {
    const start = decodeLine(startSchema, await pipe.receive());
    result = await converse(start, pipe);
  } catch (error) {
    result = { status: 'failed', error: messageOf(error) };
  }
  pipe.send({ type: 'outcome', result });
}

/** The loop: ask the model, let the parent run its tool calls, until it answers without one or the steps are used up. */
async function converse(start: Start, pipe: Pipe): Promise<Outcome> {
  const model = connect(start);
  const opening = openingMessages(start.brief);
  const conversation: ChatMessage[] = [...opening];
  pipe.send({ type: 'prompt', messages: opening });
  for (let step = 1; step <= start.maxSteps; step += 1) {
    const { content, toolCalls } = await model(conversation);
    pipe.send({ type: 'answer', content, toolCalls });
    if (toolCalls.length === 0) return { status: 'finished', summary: content };
    const { results }: ToolResults = decodeLine(toolResultsSchema, await pipe.receive());
    conversation.push(
      { role: 'assistant', content, toolCalls },
      ...results.map((result) => ({ role: 'tool', ...result }) as const),
    );
  }
  return { status: 'finished', summary: `Reached the limit of ${start.maxSteps} steps; the day ended as it stood.` };
}

function connect({ model, signature, brief }: Start): Model {
  switch (model.kind) {
    case 'simulated':
      return createSimulatedModel(signature, brief);
  }
}

/** Lines that arrive before they are asked for are kept; when the parent is gone the child ends. */
function openPipe(): Pipe {
  const lines: string[] = [];
  let waiting: ((line: string) => void) | undefined;
  const onLine = (line: string) => {
    if (waiting === undefined) lines.push(line);
    else waiting(line);
    waiting = undefined;
  };
  process.stdin.on(
    'data',
    createLineReader(onLine, () => process.exit(1)),
  );
  process.stdin.on('end', () => process.exit(1));
  process.stdout.on('error', () => process.exit(1));
  return {
    send: (message) => void process.stdout.write(encodeLine(message)),
    receive: () =>
      new Promise((resolve) => {
        const line = lines.shift();
        if (line === undefined) waiting = resolve;
        else resolve(line);
      }),
  };
}
