import { errorMessage } from '#domain/service-error.ts';
import {
  MAX_ERROR_LENGTH,
  MAX_FAILURE_REASON_LENGTH,
  type Outcome,
  type PastMessage,
  modelSecrets,
  type StartMessage,
  type ToolResults,
} from '#wire/protocol.ts';
import { type Hide, secretHider } from '#text/secrets.ts';
import { cutText } from '#text/text.ts';
import {
  type ChatMessage,
  isLastAnswer,
  KeyRefused,
  type Model,
  type ModelAnswer,
} from './model.ts';
import { openPipe, type Pipe } from './pipe.ts';
import { createSimulatedModel } from '#agent/players/simulated-model.ts';
import { firstMessages, conversationTexts } from './prompt.ts';

/** The life of a child process: one start line in, one model-day, one outcome out. */
async function runModelDay(): Promise<void> {
  const pipe = openPipe();
  let hide: Hide = (text) => text;
  const fail = (error: unknown) => {
    const isKeyRefused = error instanceof KeyRefused && ({ isKeyRefused: true } as const);
    const words = cutText(hide(errorMessage(error)), MAX_ERROR_LENGTH);
    pipe.send({ type: 'outcome', result: { status: 'failed', error: words, ...isKeyRefused } });
  };
  pipe.onUncaught(fail);
  try {
    const start: StartMessage = JSON.parse(await pipe.receive());
    hide = secretHider(modelSecrets(start.model));
    process.title = `model-day ${start.brief.date} ${start.signature}`; // what `ps` shows, instead of this program
    const past: PastMessage['message'][] = [];
    while (past.length < start.pastMessages) {
      const { message }: PastMessage = JSON.parse(await pipe.receive());
      past.push(message);
    }
    pipe.send({ type: 'outcome', result: await converse(start, past, pipe) });
  } catch (error) {
    fail(error);
  }
}

/**
 * The loop: send the conversation to the model and let the parent run its tool calls, until it
 * answers without one or reaches the step limit. It starts where the past ends: no answered request
 * is repeated.
 */
async function converse(
  start: StartMessage,
  past: readonly PastMessage['message'][],
  pipe: Pipe,
): Promise<Outcome> {
  const model = await connect(start, pipe);
  const messages = firstMessages(start.brief, start.prompt);
  const conversation: ChatMessage[] = [...messages, ...past];
  pipe.send({ type: 'prompt', messages });
  const last = past.at(-1);
  const decides = start.brief.decision !== undefined;
  if (last?.role === 'assistant' && isLastAnswer(last)) return finishedOutcome(last);
  const answers = past.filter(({ role }) => role === 'assistant').length;
  for (let step = answers + 1; step <= start.maxSteps; step += 1) {
    const said = await model(conversation);
    const answer = decides ? asDecision(said) : said;
    const { content, toolCalls, carried } = answer;
    pipe.send({ type: 'answer', ...answer });
    if (!decides && isLastAnswer(answer)) return finishedOutcome(answer);
    conversation.push({ role: 'assistant', content, toolCalls, carried });
    // Of an answer that its provider paused there are none: they say that it is stored.
    const { results, again, end }: ToolResults = JSON.parse(await pipe.receive());
    if (end !== undefined) return end;
    // Both sides rely on it: one result per call, in order.
    if (
      results.length !== toolCalls.length ||
      toolCalls.some(({ id }, at) => id !== results[at]?.id)
    )
      throw new Error('the tool results do not match the tool calls');
    conversation.push(...results);
    if (again !== undefined) conversation.push({ role: 'user', content: again });
  }
  return { status: 'finished', summary: conversationTexts().stepLimit(start.maxSteps) };
}

/** An answer as the text of a decision, which some dialects send as the arguments of a call. */
function asDecision({ carried: _carried, ...answer }: ModelAnswer): ModelAnswer {
  const [call] = answer.toolCalls;
  return { ...answer, content: call?.arguments ?? answer.content, toolCalls: [] };
}

function finishedOutcome(answer: { content: string; note: string | null }): Outcome {
  return { status: 'finished', summary: conversationTexts().summary(answer) };
}

async function connect(
  { model, signature, family, brief, tools }: StartMessage,
  pipe: Pipe,
): Promise<Model> {
  if (model.kind === 'simulated') return createSimulatedModel({ signature, family }, brief);
  if (model.kind === 'baseline') {
    const { createBaselineModel } = await import('#agent/players/baselines.ts');
    return createBaselineModel(model.strategy, { signature, brief });
  }
  pipe.readAhead();
  const { createProviderModel } = await import('#agent/provider/ask.ts'); // loaded only when needed
  const short = (reason: string) => cutText(reason, MAX_FAILURE_REASON_LENGTH);
  return createProviderModel(model, {
    tools,
    isOneAnswer: brief.decision !== undefined,
    onFailure: ({ reason, ...failed }) =>
      pipe.send({ type: 'failed_request', ...failed, reason: short(reason) }),
    onRefused: (additions, reason) =>
      pipe.send({ type: 'refused_additions', additions: [...additions], reason: short(reason) }),
  });
}

void runModelDay();
