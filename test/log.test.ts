import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog, type LogLevel, logUnexpected } from '../src/core/process/log.ts';
import { hostileStrings } from './support/hostile.ts';

const clock = () => new Date('2025-01-05T10:11:12.345Z');

function logTo(lines: string[], { level = 'DEBUG' as LogLevel, json = true } = {}) {
  return createLog({ level, json, write: (line) => void lines.push(line), clock });
}

test('one event is one line: JSON for machines, text for a terminal', () => {
  const lines: string[] = [];
  for (const json of [true, false])
    logTo(lines, { json }).info('job ended', { jobId: 'x y', status: 'completed' });
  assert.deepEqual(lines, [
    '{"time":"2025-01-05T10:11:12.345Z","level":"INFO","message":"job ended","jobId":"x y","status":"completed"}\n',
    '10:11:12.345 INFO    job ended jobId="x y" status=completed\n',
  ]);
});

test('events below the level are not written', () => {
  const lines: string[] = [];
  const log = logTo(lines, { level: 'WARNING' });
  log.debug('no');
  log.info('no');
  log.warning('yes');
  log.error('yes');
  assert.equal(lines.length, 2);
});

test('text from outside sends a terminal no control characters and breaks no line', () => {
  const lines: string[] = [];
  const model = 'a\n\u202eb';
  logTo(lines, { json: false }).info('bad \u001b[31m\nname', { model });
  assert.equal(lines.length, 1);
  assert.match(lines[0] as string, /^[^\u001b\u202e\n]*\n$/);
});

test('strings from outside: JSON returns them exactly, and neither form contains control characters', () => {
  for (const { name, text } of hostileStrings) {
    const lines: string[] = [];
    for (const json of [true, false]) logTo(lines, { json }).info(text, { [text]: text });
    const { message, ...fields } = JSON.parse(lines[0] as string);
    assert.deepEqual([message, fields[text]], [text, text], name);
    for (const line of lines)
      assert.doesNotMatch(line.slice(0, -1), /\p{Cc}|\p{Bidi_Control}|[\u2028\u2029]/u, name);
  }
});

test('an unexpected error is logged in full under the returned reference', () => {
  const lines: string[] = [];
  const reference = logUnexpected(logTo(lines), new Error('secret detail'));
  assert.match(reference, /^[0-9a-f]{8}$/);
  const { level, reference: logged, error } = JSON.parse(lines[0] as string);
  assert.equal(level, 'ERROR');
  assert.equal(logged, reference);
  assert.match(error, /secret detail\n\s+at /);
});
