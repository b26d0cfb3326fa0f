import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CommandDatabase, openDatabase } from '../src/database/database.ts';
import { indexNewest, newestRow } from '../src/database/log-words.ts';
import type { LogMessage } from '../src/database/sessions.ts';
import { fillWithModelDays } from './large-database.ts';
import { benchFolder } from './support.ts';

/**
 * Reasoning logs that grow model-day by model-day, with an index of words kept in one way or
 * another.
 */

const SIZE = { models: 20, days: 500, positionsPerDay: 2 };
/** How many model-days a log has at its end. */
export const MODEL_DAYS = SIZE.models * SIZE.days;
const SYMBOLS = 101;
const WORDS_PER_ANSWER = 60;
const BYTES_PER_MB = 1e6;

const WORDS = readFileSync(new URL('../docs/operations.md', import.meta.url), 'utf8')
  .split(/[^A-Za-z]+/)
  .filter((word) => word.length > 1);

/** A way to keep an index of words: what it does in the transaction of each message. */
export interface Way {
  name: string;
  prepare(database: CommandDatabase): void;
  indexOwn(database: CommandDatabase, messages: readonly LogMessage[]): void;
}

export const withoutIndex: Way = {
  name: 'without an index',
  prepare: () => {},
  indexOwn: () => {},
};

export const withIndex: readonly Way[] = [
  {
    name: 'with words in the same transactions',
    prepare: () => {},
    indexOwn: (database, messages) =>
      indexNewest(database, newestRow(database) - messages.length + 1),
  },
  {
    name: 'with trigrams in the same transactions',
    prepare: (database) => {
      database
        .statement(
          `CREATE VIRTUAL TABLE trigrams USING fts5(words, content='', columnsize=0, tokenize='trigram')`,
        )
        .run();
    },
    indexOwn(database, messages) {
      const insert = database.statement('INSERT INTO trigrams (rowid, words) VALUES (?, ?)');
      const first = newestRow(database) - messages.length + 1;
      messages.forEach(({ role, content, toolInput = '' }, index) => {
        if (role === 'assistant' || role === 'tool')
          insert.run(first + index, `${content} ${toolInput}`);
      });
    },
  },
];

/** A log that grows. */
export interface GrowingLog {
  database: CommandDatabase;
  /** Logs so many model-days, or as many as are left; returns how many. */
  grow(modelDays: number): number;
}

/** A log without messages, in a database with all its model-days. */
export function startLog({ name, prepare, indexOwn }: Way): GrowingLog {
  const path = join(benchFolder(), `${name.replaceAll(' ', '-')}.db`);
  fillWithModelDays(path, SIZE);
  const database = openDatabase(path);
  prepare(database);
  database.statement('DELETE FROM reasoning_logs').run();
  const next = randomNumbers();
  let logged = 0;
  const grow = (modelDays: number) => {
    const last = Math.min(MODEL_DAYS, logged + modelDays);
    const before = logged;
    while (logged < last) logDay(database, (logged += 1), { steps: messagesOf(next), indexOwn });
    return logged - before;
  };
  return { database, grow };
}

/** As `appendMessages`, but without the index of words. */
const INSERT = `INSERT INTO reasoning_logs (session_id, message_index, role, content, tool_name, tool_input, tool_calls, timestamp)
  VALUES (?, ?, ?, ?, ?, ?, ?, '2025-10-13T00:00:00.000Z')`;

function logDay(
  database: CommandDatabase,
  sessionId: number,
  { steps, indexOwn }: { steps: readonly LogMessage[][] } & Pick<Way, 'indexOwn'>,
): void {
  let firstIndex = 0;
  for (const messages of steps) {
    database.transaction(() => {
      const insert = database.statement(INSERT);
      messages.forEach(
        ({ role, content, toolName = null, toolInput = null, toolCalls = null }, index) => {
          insert.run(sessionId, firstIndex + index, role, content, toolName, toolInput, toolCalls);
        },
      );
      indexOwn(database, messages);
    });
    firstIndex += messages.length;
  }
}

/** The messages of a model-day, as they are logged: the prompt, two answers, two results. */
function messagesOf(next: (below: number) => number): LogMessage[][] {
  const price = () => (next(50_000) / 100).toFixed(2);
  const symbol = (number: number) => `S${number}`;
  const answer = () =>
    Array.from({ length: WORDS_PER_ANSWER }, () => WORDS[next(WORDS.length)]).join(' ');
  const brief = Array.from(
    { length: SYMBOLS },
    (_, number) => `${symbol(number)} ${price()} ${price()}`,
  ).join('\n');
  const own = symbol(next(SYMBOLS));
  const bars = Array.from({ length: 6 }, () => ({
    open: price(),
    high: price(),
    low: price(),
    close: price(),
    volume: next(9e6),
  }));
  const toolInput = JSON.stringify({ symbol: own, amount: 12 });
  return [
    [
      { role: 'system', content: WORDS.slice(0, 130).join(' ') },
      { role: 'user', content: brief },
    ],
    [{ role: 'assistant', content: answer(), toolCalls: '[]' }],
    [
      {
        role: 'tool',
        content: JSON.stringify({ symbol: own, bars }),
        toolName: 'get_price_history',
        toolInput,
      },
    ],
    [
      {
        role: 'tool',
        content: JSON.stringify({ executed: 'buy', symbol: own, amount: 12, price: 232.64 }),
        toolName: 'buy',
        toolInput,
      },
    ],
    [{ role: 'assistant', content: answer() }],
  ];
}

function randomNumbers(): (below: number) => number {
  let state = 12_345;
  return (below) => (state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff) % below;
}

/** What the log and its indexes take in the file. */
export function sizesOf(database: CommandDatabase): string {
  const sizeOf = (pattern: string) => {
    const row = database
      .statement('SELECT coalesce(sum(pgsize), 0) AS bytes FROM dbstat WHERE name GLOB ?')
      .get(pattern);
    return `${(Number(row?.['bytes']) / BYTES_PER_MB).toFixed(1)} MB`;
  };
  return `log ${sizeOf('reasoning_logs')}, words ${sizeOf('log_words_*')}, trigrams ${sizeOf('trigrams_*')}`;
}
