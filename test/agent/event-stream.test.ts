import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type StreamEvent, createEventReader } from '../../src/core/agent/provider/dialect.ts';

/** The events in some chunks of bytes. */
function eventsIn(chunks: readonly (string | Buffer)[], maxLength = 1_000): string[] {
  const events: StreamEvent[] = [];
  const take = createEventReader((event) => events.push(event), maxLength);
  for (const chunk of chunks) take(Buffer.from(chunk as string));
  return events.map(({ name, data }) => `${name}=${data}`);
}

const rows: [name: string, text: string, events: string[]][] = [
  ['data', 'data: a\n\n', ['message=a']],
  ['a name', 'event: ping\ndata: {}\n\n', ['ping={}']],
  ['a name counts for one event', 'event: x\ndata: 1\n\ndata: 2\n\n', ['x=1', 'message=2']],
  ['lines of data', 'data: a\ndata:\ndata: b\n\n', ['message=a\n\nb']],
  ['comments', ': OPENROUTER PROCESSING\n\n:\n\ndata: a\n\n', ['message=a']],
  ['a byte order mark', '\ufeffdata: a\n\n', ['message=a']],
  ['other fields', 'id: 7\nretry: 10\nfoo: bar\ndata\n\n', ['message=']],
  ['no blank line at the end', 'data: a\n\ndata: b\n', ['message=a']],
  ['letters of several bytes', 'data: äß→😀\n\n', ['message=äß→😀']],
];
for (const [name, text, events] of rows) {
  test(`events: ${name}`, () => {
    for (const lineEnd of ['\n', '\r\n', '\r']) {
      const bytes = Buffer.from(text.replaceAll('\n', lineEnd));
      // The lines of an event's data are joined with LF, however they ended.
      for (let at = 0; at <= bytes.length; at += 1) {
        const halves = [bytes.subarray(0, at), bytes.subarray(at)];
        assert.deepEqual(eventsIn(halves), events, `cut at ${at}`);
      }
      const single = [...bytes].map((byte) => Buffer.from([byte]));
      assert.deepEqual(eventsIn(single), events, 'byte by byte');
    }
  });
}

test('what is kept of an event without an end is at most as long as the limit', () => {
  const [most, more] = [`data: ${'x'.repeat(94)}`, `data: ${'x'.repeat(95)}`];
  assert.deepEqual(eventsIn([most, '\n\n'], 100), [`message=${'x'.repeat(94)}`]);
  const lines = `data: ${'x'.repeat(60)}\n`;
  for (const chunks of [[more], [lines, lines], [lines + lines], [`event: ${more}`]])
    assert.throws(() => eventsIn(chunks, 100), /an event is larger than 100 bytes/);
  // Comments and unknown fields are not kept.
  for (const passing of [': x\n'.repeat(10_000), `: ${more}`, `nothing ${more}`])
    assert.deepEqual(eventsIn([passing, '\ndata: a\n\n'], 100), ['message=a']);
});
