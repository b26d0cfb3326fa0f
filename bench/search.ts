import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CommandDatabase, openDatabase } from '../src/database/database.ts';
import { firstIndexed, indexDownFrom, newestRow } from '../src/database/log-words.ts';
import { searchLogs } from '../src/database/records/search.ts';
import { type LogMessage, appendMessages } from '../src/database/sessions.ts';
import { phrasesOf } from '../src/search-text.ts';
import { fillWithModelDays } from './large-database.ts';
import { median } from './paired.ts';
import { type Measurement, benchFolder } from './support.ts';

const SIZE = { models: 20, days: 500, positionsPerDay: 2 };
const MODEL_DAYS = SIZE.models * SIZE.days;
const SYMBOLS = 101;
const WORDS_PER_ANSWER = 60;
const BYTES_PER_MB = 1e6;

const WORDS = readFileSync(new URL('../docs/operations.md', import.meta.url), 'utf8').split(/[^A-Za-z]+/).filter((word) => word.length > 1);

/** A way to keep an index of words: what it does in the transaction of each message. */
interface Way {
  name: string;
  prepare(database: CommandDatabase): void;
  indexOwn(database: CommandDatabase, messages: readonly LogMessage[]): void;
}

const ways: readonly Way[] = [
  { name: 'without an index', prepare: () => {}, indexOwn: () => {} },
  {
    name: 'with words in the same transactions',
    prepare: () => {},
    indexOwn: (database, messages) => void indexDownFrom(database, newestRow(database), messages.length),
  },
  {
    name: 'with trigrams in the same transactions',
    prepare: (database) => {
      database.statement(`CREATE VIRTUAL TABLE trigrams USING fts5(words, content='', columnsize=0, tokenize='trigram')`).run();
    },
    indexOwn(database, messages) {
      const insert = database.statement('INSERT INTO trigrams (rowid, words) VALUES (?, ?)');
      const first = newestRow(database) - messages.length + 1;
      messages.forEach(({ role, content, toolInput = '' }, index) => {
        if (role === 'assistant' || role === 'tool') insert.run(first + index, `${content} ${toolInput}`);
      });
    },
  },
];

/** Compares an index of words written with the log with one that searches fill: the log of a model-day, searches, sizes. */
export async function* measureSearch(): AsyncGenerator<Measurement> {
  for (const way of ways) {
    const database = open(way.name);
    const before = processorMs();
    const times = logAll(database, way);
    const own = (processorMs() - before) / MODEL_DAYS;
    const took = `${own.toFixed(2)} ms of processor time, median ${at(times, 0.5)} ms, p99 ${at(times, 0.99)} ms`;
    yield figure(`log of a model-day of 6 messages ${way.name}`, `${took}, ${sizes(database)}`);
    if (way === ways[0]) yield* firstSearch(database);
    database.close();
  }
}

async function* firstSearch(database: CommandDatabase): AsyncGenerator<Measurement> {
  const steps: number[] = [];
  const before = processorMs();
  for (let row = newestRow(database); row > 0; row = (firstIndexed(database, row) ?? 1) - 1) {
    const startedAt = performance.now();
    database.transaction(() => indexDownFrom(database, row));
    steps.push(performance.now() - startedAt);
  }
  const seconds = (processorMs() - before) / 1000;
  const what = `index of ${MODEL_DAYS.toLocaleString('en-US')} model-days of 6 messages, by searches`;
  yield figure(what, `${seconds.toFixed(2)} s of processor time in steps of ${at(steps, 0.5)} ms, p99 ${at(steps, 0.99)} ms, ${sizes(database)}`);
  for (const words of ['service database', 'never-written', 'amount']) {
    const search = { phrases: phrasesOf(words), filters: {}, limit: 20, before: undefined };
    const times: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      const startedAt = performance.now();
      await searchLogs(database, search, { signal: new AbortController().signal });
      times.push(performance.now() - startedAt);
    }
    yield figure(`search of these for ${words}`, `${median(times).toFixed(1)} ms`);
  }
}

function open(name: string): CommandDatabase {
  const path = join(benchFolder(), `${name.replaceAll(' ', '-')}.db`);
  fillWithModelDays(path, SIZE);
  return openDatabase(path);
}

function logAll(database: CommandDatabase, { prepare, indexOwn }: Way): number[] {
  prepare(database);
  database.statement('DELETE FROM reasoning_logs').run();
  const next = randomNumbers();
  return Array.from({ length: MODEL_DAYS }, (_, index) => {
    const steps = messagesOf(next);
    const startedAt = performance.now();
    let firstIndex = 0;
    for (const messages of steps) {
      database.transaction(() => {
        appendMessages(database, index + 1, { firstIndex, messages, timestamp: '2025-10-13T00:00:00.000Z' });
        indexOwn(database, messages);
      });
      firstIndex += messages.length;
    }
    return performance.now() - startedAt;
  });
}

/** The messages of a model-day, as they are logged: the prompt, two answers, two results. */
function messagesOf(next: (below: number) => number): LogMessage[][] {
  const price = () => (next(50_000) / 100).toFixed(2);
  const symbol = (number: number) => `S${number}`;
  const answer = () => Array.from({ length: WORDS_PER_ANSWER }, () => WORDS[next(WORDS.length)]).join(' ');
  const brief = Array.from({ length: SYMBOLS }, (_, number) => `${symbol(number)} ${price()} ${price()}`).join('\n');
  const own = symbol(next(SYMBOLS));
  const bars = Array.from({ length: 6 }, () => ({ open: price(), high: price(), low: price(), close: price(), volume: next(9e6) }));
  const toolInput = JSON.stringify({ symbol: own, amount: 12 });
  return [
    [{ role: 'system', content: WORDS.slice(0, 130).join(' ') }, { role: 'user', content: brief }],
    [{ role: 'assistant', content: answer(), toolCalls: '[]' }],
    [{ role: 'tool', content: JSON.stringify({ symbol: own, bars }), toolName: 'get_price_history', toolInput }],
    [{ role: 'tool', content: JSON.stringify({ executed: 'buy', symbol: own, amount: 12, price: 232.64 }), toolName: 'buy', toolInput }],
    [{ role: 'assistant', content: answer() }],
  ];
}

function randomNumbers(): (below: number) => number {
  let state = 12_345;
  return (below) => (state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff) % below;
}

function sizes(database: CommandDatabase): string {
  const sizeOf = (pattern: string) => {
    const row = database.statement('SELECT coalesce(sum(pgsize), 0) AS bytes FROM dbstat WHERE name GLOB ?').get(pattern);
    return `${(Number(row?.['bytes']) / BYTES_PER_MB).toFixed(1)} MB`;
  };
  return `log ${sizeOf('reasoning_logs')}, words ${sizeOf('log_words_*')}, trigrams ${sizeOf('trigrams_*')}`;
}

function figure(what: string, ours: string): Measurement {
  return { what, ours, peer: '', ratio: '', aim: 'none', met: null };
}

/** The processor time that this process has used, in milliseconds. Other work on the machine adds nothing to it. */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function at(values: readonly number[], share: number): string {
  return (values.toSorted((one, other) => one - other)[Math.floor(values.length * share)] ?? 0).toFixed(1);
}
