import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import fc from 'fast-check';
import { weekdays } from '../../src/core/time/calendar.ts';
import {
  MAX_ERROR_LENGTH,
  MAX_LINE_BYTES,
  MAX_FAILURE_REASON_LENGTH,
} from '../../src/core/wire/protocol.ts';
import { inProcesses } from './agent-here.ts';
import { agentFixture } from './agents.ts';
import { anyTextUpTo } from './any-text.ts';
import { startProdService } from './prod.ts';

/** Children in one job at most: a model-day each. PRICES has so many dates. */
const DATES = weekdays('2025-10-01', '2025-10-28');
const MODEL_DAY_TIMEOUT_MS = 3_000;
const MEMORY_MB = 128;
/**
 * What the log may hold of one model-day: 100 reasons as long as they may be, in escapes, and the
 * end of its stderr.
 */
const MAX_LOG_BYTES = 100 * 6 * (MAX_FAILURE_REASON_LENGTH + 200) + 6 * 4_000;
/**
 * The parent's own processor time for one child, the job around it included; 15 ms are typical, one
 * hostile line cost 3,600 once.
 */
const MAX_CPU_MS = 100;

type Piece = [text: string, count: number];
interface Line {
  pieces: Piece[];
  times: number;
}

const json = (value: unknown): Piece => [JSON.stringify(value), 1];
const answer = {
  ...{ type: 'answer', content: '', toolCalls: [], reasoning: null, usage: null, note: null },
};
const once = (pieces: fc.Arbitrary<Piece[]>) =>
  pieces.map((list): Line => ({ pieces: list, times: 1 }));
/** Lengths up to more than a line may have. */
const length = fc.oneof(fc.nat(100), fc.nat(100_000), fc.nat(MAX_LINE_BYTES + 1_000));

/** An answer with a value in the place of one of its fields, given as pieces of JSON. */
function answerWith(field: string, value: Piece[]): Piece[] {
  const [before = '', after = ''] = JSON.stringify({ ...answer, [field]: '?' }).split('"?"');
  return [[before, 1], ...value, [after, 1]];
}

const nested = fc
  .tuple(fc.constantFrom(['[', ']'], ['{"a":', '}']), length, fc.boolean())
  .map(([[open = '', close = ''], count, isClosed]): Piece[] => {
    const levels = Math.floor(count / open.length);
    const end: Piece = [close, isClosed ? levels : 0];
    return [[open, levels], json(0), end];
  });
const wide = fc
  .tuple(fc.constantFrom('0,', '{},', '[],', '"",', '{"id":"","name":"","arguments":""},'), length)
  .map(([item, count]): Piece[] => {
    const items: Piece = [item, Math.floor(count / item.length)];
    return [['[', 1], items, ['0]', 1]];
  });
const value = fc.oneof(
  nested,
  wide,
  fc.jsonValue().map((one) => [json(one)]),
);
const count = fc.oneof(
  fc.constantFrom(2 ** 53 - 1, 2 ** 53, 1e300, -1, 0.5, 100_000_001),
  fc.nat(),
  fc.double(),
);
/**
 * The inside of a JSON text: characters in one of their forms, as often as a line has room for and
 * a bit more.
 */
const text: fc.Arbitrary<Piece> = fc.oneof(
  anyTextUpTo(50).map((some): Piece => [JSON.stringify(some).slice(1, -1), 1]),
  fc
    .tuple(fc.constantFrom('x', '\\"', '\\\\', '€', '\\u0000', '\\ud800', '[', '\u202e'), length)
    .map(([one, times]): Piece => [one, Math.floor(times / one.length)]),
);

const lines: fc.Arbitrary<Line>[] = [
  once(nested),
  once(wide),
  once(
    fc
      .tuple(fc.constantFrom('content', 'toolCalls', 'usage', 'carried', 'note', 'type'), value)
      .map(([field, pieces]) => answerWith(field, pieces)),
  ),
  once(
    value.map((pieces) =>
      answerWith('carried', [['{"calls":[],"message":{"a":', 1], ...pieces, ['}}', 1]]),
    ),
  ),
  once(
    fc
      .record({
        ...{ promptTokens: count, completionTokens: count },
        ...{ cachedTokens: count, reasoningTokens: count },
      })
      .map((usage) => [json({ ...answer, usage })]),
  ),
  fc.tuple(text, fc.nat(300)).map(([[one, count], times]) => ({
    pieces: [
      ['{"type":"failed_request","reason":"', 1],
      [one, Math.min(count, 5_000)],
      ['","waitMs":0}', 1],
    ],
    times,
  })),
  once(
    fc
      .tuple(fc.constantFrom('"finished","summary":"', '"failed","error":"'), text)
      .map(([status, words]): Piece[] => [
        [`{"type":"outcome","result":{"status":${status}`, 1],
        words,
        ['"}}', 1],
      ]),
  ),
  once(text.map((words): Piece[] => [words])),
  once(fc.constant([json({ type: 'prompt', messages: [] })])),
];

const script = fc.record({
  lines: fc.array(fc.oneof(...lines), { maxLength: 5 }),
  noiseKb: fc.constantFrom(0, 0, 0, 0, 700, 2_000),
  hoardMb: fc.constantFrom(...Array<number>(9).fill(0), 256),
  end: fc.constantFrom('exit', 'outcome', 'outcome', 'hang'),
});

/**
 * Runs model-days whose children send what they should not, one after another, until `children`
 * have ended. Throws when one of them leaves anything but one ended model-day with a short reason,
 * fails inside the service, fills the log, takes much of the parent's time, or leaves a database
 * that a request cannot read.
 */
export async function fuzzChildren(
  t: TestContext,
  { children, seed }: { children: number; seed: number },
): Promise<void> {
  t.diagnostic(`seed ${seed}`);
  const dates = DATES.slice(0, children);
  const round = fc.tuple(...dates.map(() => script));
  const numRuns = Math.ceil(children / dates.length);
  await fc.assert(
    fc.asyncProperty(round, (scripts) => runScripts(t, dates, scripts)),
    { numRuns, seed, endOnFailure: true },
  );
}

async function runScripts(
  t: TestContext,
  dates: readonly string[],
  scripts: readonly unknown[],
): Promise<void> {
  const byDate = Object.fromEntries(dates.map((date, index) => [date, scripts[index]]));
  const service = await startProdService(t, {
    models: [{ signature: 'hostile', openai_base_url: 'http://127.0.0.1:1/v1' }],
    agentConfig: { max_retries: 100, initial_cash: 10_000 },
    settings: { modelDayTimeoutMs: MODEL_DAY_TIMEOUT_MS, modelDayMemoryMb: MEMORY_MB },
    agent: inProcesses(
      agentFixture('says-anything').replace("'SCRIPTS'", () => JSON.stringify(byDate)),
    ),
  });
  const before = process.threadCpuUsage();
  const status = await service.runJob({ start_date: dates[0], end_date: dates.at(-1) });
  const { user, system } = process.threadCpuUsage(before);
  const errors = service.logLines.filter(({ level }) => level === 'ERROR');
  assert.deepEqual(errors, []);
  assert.equal(status.details.length, dates.length);
  for (const { date, status: end, error } of status.details) {
    const what = `${date}: ${end} ${String(error).slice(0, 500)}`;
    assert.ok(end === 'completed' || end === 'failed', what);
    assert.equal(typeof error, end === 'failed' ? 'string' : 'object', what);
    assert.doesNotMatch(String(error), /Internal error/, what);
    assert.ok(String(error).length <= MAX_ERROR_LENGTH + 100, what);
  }
  for (const date of dates) {
    const bytes = JSON.stringify(service.logLines.filter((line) => line['date'] === date)).length;
    assert.ok(bytes < MAX_LOG_BYTES, `${date}: ${bytes} bytes of log`);
  }
  const cpuMs = (user + system) / 1000 / dates.length;
  assert.ok(cpuMs < MAX_CPU_MS, `${cpuMs} ms of processor time per child`);
  const paths = ['/performance', '/results', '/reasoning?include_full_conversation=true'];
  for (const path of [...paths, '/models', '/audit'])
    assert.equal((await service.get(path)).status, 200, path);
  t.diagnostic(`${cpuMs.toFixed(1)} ms of the parent's processor time per child`);
  await service.stop();
}
