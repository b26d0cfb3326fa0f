import { createWriteStream } from 'node:fs';
import { plural } from '#text/sentences.ts';
import { pipeline } from 'node:stream/promises';
import { sessionFilters } from '#api/filters.ts';
import { errorMessage, ServiceError } from '#domain/service-error.ts';
import { readSettings } from '#settings/settings.ts';
import { forTerminal } from '#text/text.ts';
import type { Reader } from '#database/database.ts';
import {
  readConversation,
  type ConversationMessage,
  completedDays,
  type CompletedDay,
} from './queries.ts';
import { assertFreeName, beginPartial, giveName } from '#database/storage/new-file.ts';
import { fileAddress, openMoment } from '#database/snapshot.ts';
import type { ToolCall } from '#wire/protocol.ts';
import { checkDates, WrongUsage, findDatabase } from '#commands/arguments.ts';
import { writeWithProgress } from '#commands/terminal.ts';

interface ExportArguments
  extends Record<'job' | 'models' | 'study' | 'start' | 'end', string | undefined> {
  'with-reasoning': boolean;
}

/**
 * The command `export conversations FILE`: writes a line of JSON for each completed model-day. 0
 * when the file is complete; otherwise nothing is left.
 */
export async function exportConversations(
  what: string,
  file: string,
  given: ExportArguments,
): Promise<number> {
  if (what !== 'conversations')
    throw new WrongUsage(`unknown export ${what}; the only one is conversations`);
  const { job: job_id, models, study, start: start_date, end: end_date } = given;
  checkDates({ start: start_date, end: end_date });
  const settings = readSettings(process.env);
  const path = findDatabase(settings);
  try {
    assertFreeName(file, path);
  } catch (error) {
    throw new ServiceError('cannot_start', `Cannot write ${file}: ${errorMessage(error)}`);
  }
  return writeWithProgress(file, async ({ signal, onProgress }) => {
    const moment = openMoment(fileAddress(path));
    const partial = beginPartial(file);
    try {
      const context = { database: moment, settings, viewedFile: null };
      const filters = sessionFilters(
        context,
        { job_id, models, study, start_date, end_date },
        { mustExist: true },
      );
      const days = completedDays(moment, filters);
      const lines = function* () {
        for (const [index, day] of days.entries()) {
          const line = conversationLine(moment, day, given['with-reasoning']);
          yield `${JSON.stringify(line)}\n`;
          onProgress((index + 1) / days.length);
        }
      };
      const output = createWriteStream(partial.path, { flags: 'wx', flush: true });
      await pipeline(lines, output, { signal });
      giveName(partial.path, file);
      return `${forTerminal(file)}: ${plural(days.length, 'model-day')}\n`;
    } finally {
      partial.release();
      moment.close();
    }
  });
}

/**
 * A model-day in the messages of Chat Completions; what was not known that morning is in
 * `metadata`.
 */
function conversationLine(reader: Reader, day: CompletedDay, hasReasoning: boolean) {
  const log = readConversation(reader, day);
  const { model, family, study, date, jobId: job_id, returnPercent } = day;
  const served = new Set(log.flatMap(({ servedModel }) => servedModel ?? []));
  return {
    messages: chatMessages(log, hasReasoning),
    metadata: {
      model,
      entry: family,
      study,
      date,
      job_id,
      served: [...served],
      return: returnPercent === null ? null : Number((returnPercent / 100).toFixed(12)),
    },
  };
}

/** What the model read and said; the service's notes on its answers are left out. */
function chatMessages(log: readonly ConversationMessage[], hasReasoning: boolean) {
  let calls: ToolCall[] = [];
  return log.flatMap(({ role, content, reasoning, toolCalls }, index) => {
    if (role === 'tool') return { role, tool_call_id: calls.shift()?.id ?? '', content };
    if (role !== 'assistant') return role === 'user' || index === 0 ? { role, content } : [];
    calls = toolCalls === null ? [] : JSON.parse(toolCalls);
    const tool_calls = calls.map(({ id, name, arguments: text }) => {
      return { id, type: 'function', function: { name, arguments: text } };
    });
    return {
      role,
      content,
      ...(hasReasoning && reasoning !== null && { reasoning_content: reasoning }),
      ...(tool_calls.length > 0 && { tool_calls }),
    };
  });
}
