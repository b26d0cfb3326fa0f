import * as v from 'valibot';
import { timestamp } from '../calendar.ts';
import { type JournalMessage, setJournalAside } from '../database/journal.ts';
import { type Carried, type PastMessage, type ToolCall, carriedSchema, toolCallSchema } from '../protocol.ts';
import { cutText } from '../text.ts';
import { type Session, type SessionContext, logResults, runAndCount } from './session.ts';

/** Thrown when a model-day cannot go on where its journal ends, because what it was told is no longer so. */
export class JournalMisfit extends Error {}

/** One answer of the model as it was logged, and what its tool calls brought; null when the process ended before that. */
interface RecordedStep {
  content: string;
  toolCalls: ToolCall[];
  note: string | null;
  carried: Carried | null;
  results: string[] | null;
}

/** How much of the name of a tool that a model called stands in a reason. */
const MAX_NAME_LENGTH = 100;
const toolCallsSchema = v.array(toolCallSchema);

/**
 * Plays the journal of a session again: its tool calls run against the fresh portfolio and must bring what they brought
 * before. Returns what the model heard and said, for the child to go on from; nothing for a session that just began.
 * Throws a `JournalMisfit` when something is not as it was.
 */
export async function replayJournal(context: SessionContext, session: Session): Promise<PastMessage['message'][]> {
  const { journal } = session;
  session.totalMessages = journal.length;
  const past: PastMessage['message'][] = [];
  for (const { results, ...answer } of stepsIn(journal.slice(openingOf(journal).length))) {
    session.steps += 1;
    const contents: string[] = [];
    for (const [index, call] of answer.toolCalls.entries()) {
      const content = await runAndCount(session, call, results?.[index]);
      if (results !== null && content !== results[index])
        throw new JournalMisfit(
          `${cutText(call.name, MAX_NAME_LENGTH)} in step ${session.steps} does not answer as it did`,
        );
      contents.push(content);
    }
    if (results === null) await logResults(context, session, { calls: answer.toolCalls, contents });
    const heard = answer.toolCalls.map(
      ({ id }, index) => ({ role: 'tool', id, content: contents[index] ?? '' }) as const,
    );
    past.push({ role: 'assistant', ...answer }, ...heard);
  }
  return past;
}

/** Checks that the child's prompt is the one that its journal begins with. Throws a `JournalMisfit` when it is not. */
export function checkPrompt({ journal }: Session, prompt: readonly { role: string; content: string }[]): void {
  const opening = openingOf(journal);
  const isSame = prompt.every(({ role, content }, index) => {
    return opening[index]?.role === role && opening[index].content === content;
  });
  if (!isSame || opening.length !== prompt.length) throw new JournalMisfit('the prompt is another now');
}

/** Ends the session with the reason why its journal is of no use; the model-day then starts over. */
export function setAside({ database, clock }: SessionContext, session: Session, misfit: JournalMisfit): Promise<void> {
  session.hasEnded = true;
  const error = `Set aside, because the journal no longer fits: ${misfit.message}`;
  return database.write(
    () => setJournalAside(database, session.sessionId, { error, completedAt: timestamp(clock()) }),
    session,
  );
}

/** The messages before the model's first answer. */
function openingOf(journal: readonly JournalMessage[]): readonly JournalMessage[] {
  const first = journal.findIndex(({ role }) => role === 'assistant');
  return first === -1 ? journal : journal.slice(0, first);
}

function stepsIn(messages: readonly JournalMessage[]): RecordedStep[] {
  const starts = messages.flatMap(({ role }, index) => (role === 'assistant' ? [index] : []));
  return starts.map((start, number) => {
    const [answer, ...rest] = messages.slice(start, starts[number + 1]) as [JournalMessage, ...JournalMessage[]];
    const toolCalls = readToolCalls(answer);
    const results = rest.filter(({ role }) => role === 'tool').map(({ content }) => content);
    const isCut = results.length === 0 && toolCalls.length > 0 && number === starts.length - 1;
    if (!isCut && results.length !== toolCalls.length)
      throw new JournalMisfit(`step ${number + 1} has ${results.length} results of ${toolCalls.length} tool calls`);
    const note = rest.find(({ role }) => role === 'system')?.content ?? null;
    return { content: answer.content, toolCalls, note, carried: readCarried(answer), results: isCut ? null : results };
  });
}

function readToolCalls({ toolCalls }: JournalMessage): ToolCall[] {
  const result = v.safeParse(toolCallsSchema, toolCalls === null ? [] : JSON.parse(toolCalls));
  if (!result.success) throw new JournalMisfit('it holds tool calls that cannot be read');
  return result.output;
}

function readCarried({ carried }: JournalMessage): Carried | null {
  const result = v.safeParse(v.nullable(carriedSchema), carried === null ? null : JSON.parse(carried));
  if (!result.success) throw new JournalMisfit('it holds what a provider wanted back, and that cannot be read');
  return result.output;
}
