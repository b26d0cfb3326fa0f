import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { weekdays } from '../src/core/time/calendar.ts';
import { signatureSchema } from '../src/core/settings/configuration-schema.ts';
import { createLog } from '../src/core/process/log.ts';
import { staleRemedy } from '../src/core/database/stale.ts';
import { count, list, nearestName } from '../src/core/text/sentences.ts';
import {
  cleanText,
  cutText,
  forTerminal,
  printableJson,
  showLines,
  findUnprintable,
  wrapText,
} from '../src/core/text/text.ts';

test('the remedy for stale model-days has a command for each range of dates on one terms, with names that a shell reads', () => {
  /** Of each day: `s` is stale; a number, the job that ran it. */
  const days = (marks: string) =>
    marks.split(' ').map((mark, index) => {
      const [stale, job = '1'] = mark;
      return { date: `2025-01-0${index + 1}`, isStale: stale === 's', jobId: `job-${job}` };
    });
  const range = (start: number, end: number) => `--start 2025-01-0${start} --end 2025-01-0${end}`;
  const remedies: [runs: [model: string, days: string][], remedy: string][] = [
    [
      [['a', '- - s']],
      `npx trading-simulation-service trigger ${range(3, 3)} --models a --terms-of job-1 --replace runs it again`,
    ],
    [
      Object.entries({ 'a#2': 's - s -', b: '- - -' }),
      `2 later model-days rest on them; npx trading-simulation-service trigger ${range(1, 4)} --models a#2 --terms-of job-1 --replace runs them again`,
    ],
    [
      Object.entries({ '#a': '- s', "it's": 's s', d: '- s' }),
      `npx trading-simulation-service trigger ${range(2, 2)} --models '#a,d' --terms-of job-1 --replace, ` +
        `npx trading-simulation-service trigger ${range(1, 2)} --models 'it'\\''s' --terms-of job-1 --replace run them again`,
    ],
    [
      [['a', 's1 s2 -2 -1']],
      `2 later model-days rest on them; npx trading-simulation-service trigger ${range(1, 1)} --models a --terms-of job-1 --replace, ` +
        `npx trading-simulation-service trigger ${range(2, 3)} --models a --terms-of job-2 --replace, ` +
        `npx trading-simulation-service trigger ${range(4, 4)} --models a --terms-of job-1 --replace run them again`,
    ],
    [
      [['a', 's2 s3 s1']],
      `npx trading-simulation-service trigger ${range(1, 2)} --models a --terms-of job-2 --replace, ` +
        `npx trading-simulation-service trigger ${range(3, 3)} --models a --terms-of job-1 --replace run them again`,
    ],
    [
      [['-a b', 's1']],
      `npx trading-simulation-service trigger ${range(1, 1)} --models='-a b' --terms-of job-1 --replace runs it again`,
    ],
  ];
  /** 2 and 3 have the same terms. */
  const optionOf = (jobId: string) => `--terms-of ${jobId.replace('3', '2')}`;
  for (const [runs, remedy] of remedies) {
    const own = runs.map(([run, marks]) => ({ run, days: days(marks) }));
    assert.equal(staleRemedy(own, optionOf), remedy);
  }
  const many = Array.from({ length: 21 }, (_, run) => ({
    ...{ run: `m${run}`, days: days('s') },
  }));
  assert.match(staleRemedy(many, optionOf), /,m19,… --terms-of job-1 --replace runs them again$/);
});

test('a text is wrapped between words, and no long word is cut', () => {
  assert.deepEqual(wrapText('one two three', 7), ['one two', 'three']);
  assert.deepEqual(wrapText('at https://example.com now', 6), ['at', 'https://example.com', 'now']);
});

test('a count agrees with its noun', () => {
  const counts = [0, 1, 2].map((number) => count(number, 'date'));
  assert.deepEqual(counts, ['0 dates', '1 date', '2 dates']);
});

test('of many names some are listed and the others counted', () => {
  assert.match(list(weekdays('2025-01-06', '2025-02-18')), /^2025-01-06, .*2025-02-14 and 2 more$/);
  assert.equal(list(['A', 'B', 'C'], { most: 2 }), 'A, B and 1 more');
  assert.equal(list(['A', 'B'], { total: 3 }), 'A, B and 1 more');
  assert.equal(list(['A', 'B']), 'A, B');
});

/**
 * Every character that is unprintable, by kind: single code units, and spans with both ends
 * included.
 */
const unprintable: [kind: string, ...spans: (number | [first: number, last: number])[]][] = [
  ['a control character', [0x00, 0x1f], 0x7f, [0x80, 0x9f]],
  ['a mark of writing direction', 0x061c, 0x200e, 0x200f, [0x202a, 0x202e], [0x2066, 0x2069]],
  ['a line separator', 0x2028, 0x2029],
  ['half a character', 0xd800, 0xdbff, 0xdc00, 0xdfff],
];
const LINE_CHARACTERS = '\t\n';

for (const [kind, ...spans] of unprintable) {
  test(`${kind} is unprintable wherever text from outside is shown`, () => {
    for (const span of spans) {
      const [first, last] = typeof span === 'number' ? [span, span] : span;
      for (let code = first; code <= last; code += 1)
        assertUnprintable(String.fromCharCode(code), kind);
    }
  });
}

function assertUnprintable(character: string, kind: string): void {
  const code = `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
  const text = `a${character}b`;
  assert.equal(findUnprintable(text), `${kind} (${code})`);
  assert.equal(forTerminal(text), 'a\ufffdb', code);
  assert.equal(showLines(text), LINE_CHARACTERS.includes(character) ? text : 'a\ufffdb', code);
  assert.match(cleanText(text), /^a ?b$/, code);
  assert.equal(
    v.safeParse(signatureSchema, text).issues?.[0]?.message,
    `must not contain ${kind} (${code})`,
  );
  const shown = [printableJson({ text }), ...logged(text).map((line) => line.slice(0, -1))];
  for (const line of shown) assert.equal(findUnprintable(line), null, code);
  assert.equal(JSON.parse(printableJson({ text })).text, text, code);
}

/** The text as a message and a field of the log, as JSON and as text. */
function logged(text: string): string[] {
  const lines: string[] = [];
  const to = { level: 'INFO', write: (line: string) => lines.push(line) } as const;
  for (const json of [true, false])
    createLog({ ...to, json, clock: () => new Date(0) }).info(text, { text });
  return lines;
}

test('what emoji, scripts and byte order marks need is printable', () => {
  const joined = ['\u{1f468}\u200d\u{1f469}', '\u0645\u200c\u0647', '\ufeffa'];
  for (const text of [...joined, '\u00ad', '\uffff\u{10ffff}', '\u00a0']) {
    assert.equal(findUnprintable(text), null);
    assert.deepEqual([forTerminal(text), showLines(text)], [text, text]);
  }
});

test('over several lines, line ends stay but a lone carriage return does not', () => {
  assert.equal(showLines('a\tb\r\nc\nd\re\u001b[2J'), 'a\tb\r\nc\nd\ufffde\ufffd[2J');
});

const texts: [text: string, clean: string][] = [
  ['  a \n\t b\u2028c  ', 'a b c'],
  ['a\u0000b\u009fc', 'a b c'],
  ['a\ud800b\udc00c', 'abc'],
  ['\u{1f600}', '\u{1f600}'],
  ['\u202eevil\u2066\u061c', 'evil'],
  ['', ''],
];
test('cleaned text is in one line, without what is unprintable', () => {
  for (const [text, clean] of texts) assert.equal(cleanText(text), clean);
});

test('a cut keeps to its length and cuts no character in two', () => {
  assert.equal(cutText('abc', 3), 'abc');
  assert.equal(cutText('abcd', 3), 'ab…');
  assert.equal(cutText('a \u{1f600}b', 4), 'a…');
});

const NAMES = ['gpt-5', 'gpt-5-mini', 'claude', 'llama', '3f0c9a52-7c1e-4b6f-9d43-0a1b2c3d4e5f'];
const near = `gpt5=gpt-5 gpt-6=gpt-5 GPT-5-MINI=gpt-5-mini gpt-5-mni=gpt-5-mini caldue=claude
  lama=llama llam=llama 3f0c9a52=${NAMES[4]}`;
test('the nearest name is within a few letters, or begins so', () => {
  for (const [name = '', nearest] of near.split(/\s+/).map((pair) => pair.split('=')))
    assert.equal(nearestName(name, NAMES), nearest, name);
  for (const name of ['mistral', '', 'x'.repeat(300)]) assert.equal(nearestName(name, NAMES), null);
});
