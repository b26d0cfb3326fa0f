import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createLineReader, decodeLine, MAX_LINE_BYTES } from '../src/core/wire/protocol.ts';
import { inLongForm } from './support/long.ts';

function readAll(chunks: readonly (string | Buffer)[]): { lines: string[]; tooLong: number } {
  const result = { lines: [] as string[], tooLong: 0 };
  const take = createLineReader(
    (line) => void result.lines.push(line),
    () => (result.tooLong += 1),
  );
  for (const chunk of chunks) take(Buffer.from(chunk));
  return result;
}

test('lines are whole, however the stream is cut', () => {
  const text = '{"a":1}\n\n{"b":"€ü"}\n{"c"';
  const whole = ['{"a":1}', '', '{"b":"€ü"}'];
  assert.deepEqual(readAll([text]).lines, whole);
  assert.deepEqual(readAll([...Buffer.from(text)].map((byte) => Buffer.from([byte]))).lines, whole);
});

test('an endless line is reported once, and nothing after it is read', () => {
  const piece = 'x'.repeat(MAX_LINE_BYTES / 2);
  assert.deepEqual(readAll(['a\n', piece, piece, 'x', 'x\nb\n']), { lines: ['a'], tooLong: 1 });
});

const anAnswer = { type: 'answer', content: '', toolCalls: [], reasoning: null, note: null };
const aCall = { id: '', name: '', arguments: '' };
const usage = { completionTokens: 1, cachedTokens: null, reasoningTokens: null };
const failure = { status: 'failed', error: 'x'.repeat(4_001) };
const wrong: [line: string | object, message: RegExp][] = [
  ['Loading weights', /the line is not JSON/],
  [{ type: 'trade' }, /does not fit the protocol \(type/],
  [{ type: 'answer', content: 'x' }, /toolCalls/],
  [{ ...anAnswer, toolCalls: [{ ...aCall, id: 1 }] }, /toolCalls\.0\.id/],
  [{ ...anAnswer, toolCalls: Array(129).fill(aCall) }, /toolCalls/],
  [{ ...anAnswer, usage: { ...usage, promptTokens: 100_000_001 } }, /usage\.promptTokens/],
  [{ type: 'outcome', result: failure }, /result\.error/],
  [{ type: 'prompt', messages: [{ role: 'tool', content: '' }] }, /messages\.0\.role/],
];
test('a line that does not fit the protocol is refused with the place', () => {
  for (const [line, message] of wrong) {
    const text = typeof line === 'string' ? line : JSON.stringify(line);
    assert.throws(() => decodeLine(text), message);
  }
});

/** The memory of this process after garbage collection. */
function memoryHeld(): NodeJS.MemoryUsage {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage();
}

test('a line that comes byte by byte takes no more memory than its bytes', inLongForm, () => {
  const lines: string[] = [];
  const read = createLineReader((line) => void lines.push(line), assert.fail);
  const byte = Buffer.from('x');
  const before = memoryHeld();
  for (let count = 0; count < 2_000_000; count += 1) read(byte);
  const { heapUsed, arrayBuffers } = memoryHeld();
  assert.ok(heapUsed - before.heapUsed < 20e6, `${heapUsed - before.heapUsed} bytes of heap`);
  assert.ok(
    arrayBuffers - before.arrayBuffers < 20e6,
    `${arrayBuffers - before.arrayBuffers} bytes of buffers`,
  );
  read(Buffer.from('\n'));
  assert.equal(lines[0]?.length, 2_000_000);
});
