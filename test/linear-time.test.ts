import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import * as v from 'valibot';
import { readCompletion } from '../src/core/agent/provider/chat.ts';
import { isCalendarDate } from '../src/core/time/calendar.ts';
import { signatureSchema } from '../src/core/settings/configuration-schema.ts';
import { parseConfiguration } from '../src/core/settings/configuration.ts';
import { openDatabase } from '../src/core/database/database.ts';
import { readWarnings } from '../src/core/database/job-queries.ts';
import { normaliseSymbol } from '../src/core/domain/symbols.ts';
import { triggerHeaders, triggerRequest } from '../src/core/api/trigger.ts';
import { jobsQuery } from '../src/core/api/jobs.ts';
import { reasoningQuery } from '../src/core/api/reasoning.ts';
import { checkOrigin, createAccessRules, findRights } from '../src/core/http/access.ts';
import { createRouter } from '../src/core/http/router.ts';
import { routes } from '../src/routes.ts';
import {
  isReadable,
  readTarget,
  validateBody,
  validateHeaders,
  validateQuery,
} from '../src/core/http/request.ts';
import { createLog } from '../src/core/process/log.ts';
import { checkRow, type Row } from '../src/core/prices/row.ts';
import { readLines, takeHeader } from '../src/features/price-files/lines.ts';
import { importFile } from '../src/features/price-files/import.ts';
import { decodeLine } from '../src/core/wire/protocol.ts';
import { errorPosition, repeatedName } from '../src/core/json/json.ts';
import { secretHider } from '../src/core/text/secrets.ts';
import { readSettings } from '../src/core/settings/settings.ts';
import {
  cleanText,
  forTerminal,
  printableJson,
  showLines,
  findUnprintable,
} from '../src/core/text/text.ts';
import { runTool } from '../src/core/trading/tools.ts';
import { calculate } from '../src/core/trading/calculate.ts';
import { readDecision } from '../src/core/trading/decision.ts';
import { inLongForm, runs } from './support/long.ts';
import { temporaryFolder } from './support/folder.ts';

/**
 * What takes text from outside takes time in proportion to its length. A text that takes
 * suspiciously long is measured against one of an eighth of its length: per character it may cost
 * some times as much, but not eight times.
 */
const LENGTH = runs(8_000, 64_000);
const SHARE = 8;
const MAX_GROWTH_PER_CHARACTER = 3;
/**
 * Anything linear takes a fraction of this; one step per pair of characters would be hundreds of
 * millions of steps.
 */
const UNSUSPICIOUS_MS = 20;
const ROUNDS = 7;
/**
 * Here one step per pair of characters would be billions of steps: a pass over a file takes many
 * times longer than this.
 */
const UNSUSPICIOUS_FILE_MS = 200;
const FILE_LENGTH = runs(120_000, 1_000_000);
const LINE_LENGTH = runs(4_000_000, 24_000_000);

/** Texts that make regular expressions and parsers go back, look again or nest. */
const fillers: string[] = [
  ...[' ', '\n', '\r\n', '\t', '"', '""', '",', "'", '`', '```', '\\', '\\"', '\\u0000', '/', '//'],
  ...['../', ':', ';', ',', ', ', '.', '..', 'a.', '.US', '-', '_', '__proto__', '0', '1', '1e'],
  ...['1.', '1+', '2^', '(', '((1', 'max(', ')', '-1', '[', ']', '[[', '{', '{"a":', '[1,', '}'],
  ...['<', '<a', '<a>', '</', '<tool_call', '"name" : "', '"name"', 'json ', 'JSON\n', '=', '&'],
  ...['model=a&', '%', '%2', '%25', '%c3%a9', '+', '#', '?', '@', 'http://', 'http://a', 'a,b'],
  ...['a', 'A', 'a b', 'bearer ', 'Bearer a', '2025-', '2025-01-06', '\u0000', '\u001b[', '\u009b'],
  ...['\u200f', '\u202e', '\ud800', '\u{1f600}', '\u0301', '\u00e9', '\ufeff'],
];

/** In front and behind: what lets a pattern begin, and what keeps it from matching after all. */
const frames: [before: string, after: string][] = [
  ['', '!'],
  ['"', ''],
  ['```', '```'],
];

const rules = createAccessRules([], []);
const router = createRouter(routes);
const bodyOf = (message: unknown) => ({ choices: [{ message, finish_reason: 'stop' }] });
const callOf = (fields: object) =>
  bodyOf({ tool_calls: [{ id: 'x', function: { name: 'buy', arguments: '{}', ...fields } }] });
const readPrices = (row: Row) => checkRow(row, { hasPrices: true, today: '2025-01-01' });
const readActions = (row: Row) => checkRow(row, { hasPrices: false, today: '2025-01-01' });
const readers: Record<string, (text: string) => unknown> = {
  isCalendarDate,
  normaliseSymbol,
  calculate,
  cleanText,
  forTerminal,
  showLines,
  printableJson,
  unprintableIn: findUnprintable,
  'a text with a secret': secretHider(['%25%25%2525&amp;', '\\"\\"aa\\\\u0000', 'aaaaaaaaaa"']),
  isReadable,
  'warnings of a job': (text) => readWarnings({ warnings: text, warningCodes: text }),
  'a log line as JSON': (text) => logTo(true).info(text, { text }),
  'a log line as text': (text) => logTo(false).info(text, { text }),
  'a signature': (text) => v.safeParse(signatureSchema, text),
  'a body of the trigger': (text) =>
    validateBody(triggerRequest, {
      end_date: text,
      start_date: text,
      models: [text],
      [text]: text,
    }),
  'a header of the trigger': (text) =>
    validateHeaders(triggerHeaders, { 'idempotency-key': [text] }),
  'a query of /jobs': (text) =>
    validateQuery(jobsQuery, `limit=${text}&status=${text}&before=${text}`),
  'a query of /reasoning': (text) => validateQuery(reasoningQuery, text),
  'an address': (text) => readTarget({ url: text, headers: {} }),
  'an address with a host': (text) => readTarget({ url: `http://${text}`, headers: {} }),
  'a path': (text) => router('GET', `/simulate/status/${text}`),
  'an Authorization header': (text) => findRights([], text),
  'an Origin header': (text) => checkOrigin(rules, `http://${text}`, 'localhost'),
  'a Host header': (text) => checkOrigin(rules, 'http://localhost', text),
  'the names in JSON': (text) => repeatedName(JSON.stringify({ [text]: text })),
  'a text that is not JSON': (text) =>
    [text, `"${text}`, `[${text}`, `{${text}`].map(errorPosition),
  'a setting': (text) => readSettings(Object.fromEntries(SETTINGS.map((name) => [name, text]))),
  'a configuration': (text) => {
    const models = [{ signature: text, openai_base_url: text }];
    return parseConfiguration(
      { models, agent_config: { stock_symbols: [text], [text]: text } },
      '',
    );
  },
  "a model's words": (text) => readCompletion(bodyOf({ content: text, reasoning: text }), 1),
  "a model's words in parts": (text) => readCompletion(bodyOf({ content: [text, { text }] }), 1),
  'the arguments of a call': (text) => readCompletion(callOf({ arguments: text }), 1),
  'the arguments of a call, encoded twice': (text) =>
    readCompletion(callOf({ arguments: JSON.stringify(text) }), 1),
  'the name of a call': (text) => readCompletion(callOf({ name: text, arguments: { text } }), 1),
  'a decision whose fence stays open': (text) =>
    readDecision(`\`\`\`${text.repeat(8)}`, 'one_answer'),
  'a line of a child': decodeLine,
  'a row of prices': (text) => readPrices({ symbol: text, date: text }),
  'a row of a good symbol': (text) =>
    readPrices({ ...GOOD_ROW, volume: text, dividend: text, numerator: text }),
  'a row without prices': (text) =>
    readActions({ symbol: 'A', date: text, dividend: text, currency: text }),
  'the header of a file': (text) => {
    const first = { firstLine: 1, lines: [text] };
    return takeHeader({ first, batches: (async function* () {})() });
  },
};
const GOOD_ROW = { symbol: 'A', date: '2024-01-02', open: '1' };
const SETTINGS = [
  ...['API_PORT', 'LOG_LEVEL', 'OPENAI_API_BASE', 'PRESERVE_DEV_DATA', 'API_TOKEN'],
  'ALLOWED_HOSTS',
];

function logTo(json: boolean) {
  return createLog({ level: 'INFO', json, write() {}, clock: () => new Date(0) });
}

for (const [name, read] of Object.entries(readers)) {
  test(`${name}: in linear time`, async () => {
    for (const [before, after] of frames) {
      for (const filler of fillers) {
        const work = (length: number) =>
          timeOf(read, before + filler.repeat(length / filler.length) + after);
        await checkGrowth(work, `${JSON.stringify(before + filler)}...${after}`);
      }
    }
  });
}

test('the arguments of a tool: in linear time', async () => {
  const day = {
    ...{ market: { date: '2025-01-06' }, universe: new Set(), actions: [] },
    portfolio: { cash: 0, holdings: new Map() },
  };
  for (const filler of fillers) {
    const work = (length: number) => {
      const text = filler.repeat(length / filler.length);
      const args = JSON.stringify({ symbol: text, amount: text, expression: text, [text]: text });
      const calls = ['buy', 'get_price', 'calculate', text].flatMap((name) =>
        [text, args].map((own) => ({ id: '1', name, arguments: own })),
      );
      return timeOf(() => calls.forEach((call) => void runTool(day as never, call)), text);
    };
    await checkGrowth(work, filler);
  }
});

const PRICES = 'symbol,date,open,close\n';
/** Files of many short lines, and of one that does not end: the start, what is repeated, the end. */
const files: [name: string, start: string, repeated: string, end?: string][] = [
  ['CSV of short lines', PRICES, 'A,2024-01-02,1x,1\n'],
  ['CSV of rows that contradict each other', PRICES, 'A,2024-01-02,1,1\nA,2024-01-02,2,2\n'],
  ['CSV of one line', PRICES, 'A,"'],
  ['CSV of one header', '', 'date,'],
  ['empty lines', '', '\n'],
  ['JSON that never ends', '', '{"a":'],
  ['JSON of short lines', '', '{"a":1}\n'],
  [
    'JSON of one document',
    '{"Meta Data":{"2. Symbol":"A"},"Time Series (Daily)":{',
    '"x":{},',
    '"y":{}}}',
  ],
];
for (const [name, start, repeated, end = ''] of files) {
  test(`a file of ${name}: in linear time`, inLongForm, async () => {
    const path = join(temporaryFolder(), 'prices.csv');
    const database = openDatabase(':memory:');
    const importOf = async (length: number) => {
      writeFileSync(path, start + repeated.repeat(length / repeated.length) + end);
      const startedAt = cpuMs();
      await importFile(database, path, { clock: () => new Date(), onRefused() {} }).catch(() => {});
      return cpuMs() - startedAt;
    };
    const text = { length: FILE_LENGTH, unsuspiciousMs: UNSUSPICIOUS_FILE_MS };
    await checkGrowth(importOf, name, text);
  });
}

test('a line of a file that does not end: in linear time', async () => {
  const path = join(temporaryFolder(), 'prices.csv');
  const read = async (length: number) => {
    writeFileSync(path, 'x'.repeat(length));
    const startedAt = cpuMs();
    for await (const _lines of readLines(path));
    return cpuMs() - startedAt;
  };
  await checkGrowth(read, 'one line', { length: LINE_LENGTH, unsuspiciousMs: UNSUSPICIOUS_MS });
});

/** Of this thread only: other load on the machine is not measured. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function timeOf(read: (text: string) => unknown, text: string): number {
  const startedAt = cpuMs();
  try {
    read(text);
  } catch {
    // A refusal is an answer too.
  }
  return cpuMs() - startedAt;
}

interface Text {
  /** In characters. */
  length: number;
  unsuspiciousMs: number;
}
const ONE_TEXT: Text = { length: LENGTH, unsuspiciousMs: UNSUSPICIOUS_MS };

/** Fails when each of several attempts took more than its share for the longer text. */
async function checkGrowth(
  work: (length: number) => number | Promise<number>,
  what: string,
  { length, unsuspiciousMs }: Text = ONE_TEXT,
): Promise<void> {
  let long = await work(length);
  if (long < unsuspiciousMs) return;
  let short = Infinity;
  // The least of several times is the one that nothing disturbed.
  for (let round = 0; round < ROUNDS; round += 1) {
    short = Math.min(short, await work(length / SHARE));
    long = Math.min(long, await work(length));
  }
  const isFine = long < unsuspiciousMs || long / short / SHARE < MAX_GROWTH_PER_CHARACTER;
  assert.ok(isFine, `${what}: ${short} ms, and for ${SHARE} times the text ${long} ms`);
}
