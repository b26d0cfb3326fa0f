import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { secretHider } from '../src/core/text/secrets.ts';
import { runs } from './support/long.ts';

/** With a character of every kind that some notation spells in another way. */
const SECRET = `sk-"a'\\b/c&d<e>é\n+12`;

const json = (text: string) => JSON.stringify(text).slice(1, -1);
const inHtml = (text: string) =>
  text.replace(
    /["'&<>]/g,
    (sign) => ({ '"': '&quot;', '<': '&lt;', '>': '&gt;' })[sign] ?? `&#${sign.charCodeAt(0)};`,
  );
const spellings: Record<string, (text: string) => string> = {
  'as it is': (text) => text,
  'in JSON': json,
  'in JSON within JSON': (text) => json(json(text)),
  'in JSON within JSON within JSON': (text) => json(json(json(text))),
  'in JSON of ASCII characters': (text) =>
    json(text).replace(/[^ -~]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`),
  'in JSON with \\u0022 and \\/': (text) =>
    json(text).replaceAll('\\"', '\\u0022').replaceAll('/', '\\/').replaceAll('&', '\\u0026'),
  'in JSON with every sign in code': (text) =>
    text.replace(
      /[^]/g,
      (sign) => `\\u${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`,
    ),
  'in a URL': (text) => encodeURIComponent(text).replaceAll('%C3%A9', 'é'),
  'in a URL within a URL, in small letters': (text) =>
    encodeURIComponent(encodeURIComponent(text)).replaceAll('%25C3%25A9', 'é').toLowerCase(),
  'in HTML': inHtml,
  'in HTML within HTML': (text) => inHtml(text).replaceAll('&', '&amp;'),
  'in HTML within JSON': (text) => json(inHtml(text)),
};
for (const [name, spell] of Object.entries(spellings)) {
  test(`a secret is hidden ${name}`, () => {
    const hide = secretHider([SECRET]);
    for (const [before, after] of [
      ['', ''],
      ['Wrong key ', '.'],
      ['{"a":"', '"}'],
      ['\\n', '\\"'],
    ])
      assert.equal(hide(`${before}${spell(SECRET)}${after}`), `${before}[key]${after}`);
  });
}

test('JSON with a secret stays JSON, whatever the secret is', () => {
  const signs = ['s', 'k', '"', "'", '\\', '%', '2', '5', '&', ';', 'u', '0', 'n', '\n'];
  const text = fc.string({ unit: fc.constantFrom(...signs) });
  fc.assert(
    fc.property(text, text, text, text, (before, after, start, end) => {
      const secret = `${start}key-1234${end}`;
      const text = JSON.stringify(`${before} ${secret} ${after}`);
      const shown: string = JSON.parse(secretHider([secret])(text));
      assert.ok(!shown.includes('key-1234'), shown);
    }),
    { numRuns: runs(100, 30_000) },
  );
});

test('a key that came with quotation marks is hidden without them', () => {
  const hide = secretHider(['"sk-12345678"']);
  assert.equal(hide('{"key":"sk-12345678"}'), '{"key":"[key]"}');
  assert.equal(hide('Wrong key \\"sk-12345678\\"'), 'Wrong key \\"[key]\\"');
});

test('a secret of any length is hidden, and so is each large part of it', () => {
  for (const length of [1_000, 1_400, 100_000]) {
    const secret = 'Ab"\n'.repeat(length / 4 + 1).slice(0, length);
    const shown = secretHider([secret])(`<${secret}> ${JSON.stringify({ secret })}`);
    assert.match(shown, /^<(\[key\])+> {"secret":"(\[key\])+"}$/);
  }
  const ending = secretHider([`${'x'.repeat(1_000)}word`]);
  assert.equal(ending(`${'x'.repeat(1_000)}word, a word`), '[key]word, a word');
});

test('of secrets within each other the longest is hidden first, and words are left', () => {
  const hide = secretHider(['def-12345', null, 'abc"def-12345', 'none', '']);
  assert.equal(hide('none: abc\\"def-12345, def-12345.'), 'none: [key], [key].');
  const coded = secretHider(['%41%42%43', '\\\\\\\\\\\\\\\\']);
  assert.equal(coded('ABC %41%42%43 \\\\'), 'ABC [key] \\\\');
});
