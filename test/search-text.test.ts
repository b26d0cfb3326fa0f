import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  excerptAround,
  findExcerpt,
  parsePhrases,
  splitWords,
} from '../src/core/database/search-text.ts';
import { anyTextUpTo } from './support/any-text.ts';

/** The words of a text, and its excerpts. */

const texts: [text: string, words: string][] = [
  ['BRK-B rose 12.5 %, said Zoë.', 'brk b rose 12 5 said zoe'],
  ['don’t_stop', 'don t stop'],
  ['苹果公司 AAPL。', '苹 果 公 司 aapl'],
  ['word苹果word', 'word 苹 果 word'],
  ['カタカナー', 'カ タ カ ナ ー'],
  ['주가가', '주 가 가'],
  ['हिन्दी', 'हिन्दी'],
  ['Ελλάδα ЁЛКА', 'ελλαδα елка'],
  ['İstanbul', 'istanbul'],
  ['ﬁn １２ ½', 'fin 12 1 2'],
  ['e\u0301 é', 'e e'],
  ['🚀 … — "" \u0000', ''],
  ['x'.repeat(100), 'x'.repeat(64)],
];
test('the words of a text are letters and figures, without accents and capitals', () => {
  for (const [text, words] of texts) assert.equal(splitWords(text).join(' '), words, text);
});

const filler = 'zz '.repeat(200);
const excerpts: [what: string, texts: string[], search: string, excerpt: string | null][] = [
  ['a match at the beginning', ['Cash is king.'], 'cash', '[Cash] is king.'],
  ['words apart, and one of two texts', ['cash', 'king of cash'], 'cash king', '[king] of [cash]'],
  ['a phrase only where its words are together', ['b brk brk-b'], 'brk-b', 'b brk [brk-b]'],
  ['phrases that overlap', ['苹果汁'], '苹果 果汁', '[苹果汁]'],
  ['no excerpt when a word is missing', ['cash is'], 'cash king', null],
  [
    'where most words are together',
    [`cash ${filler} king cash`],
    'cash king',
    `…${' zz'.repeat(26)}  [king] [cash]`,
  ],
];
for (const [what, given, search, expected] of excerpts) {
  test(`excerpt: ${what}`, () => {
    const found = findExcerpt(given, parsePhrases(search));
    const characters = [...(found?.excerpt ?? '')];
    for (const [start, length] of found?.matches.toReversed() ?? [])
      characters.splice(start, length, '[', ...characters.slice(start, start + length), ']');
    assert.equal(found === null ? null : characters.join(''), expected);
  });
}

const long = 'zz — at; '.repeat(7_000);
const around: [what: string, text: string, search: string, excerpt: string][] = [
  ['the first match', 'no cash', 'cash', 'no cash'],
  ['no match', 'no cash', 'king', 'no cash'],
  ['a search without words', 'no cash', '—', 'no cash'],
  ['a match at the far end', `${long}brk-b`, 'BRK-B', 'zz — at; brk-b'],
  ['no part of a word', `${long}cat-k ${long}at-k.`, 'at-k', 'zz — at; at-k.'],
  ['scripts without spaces', `${'市場很平靜，'.repeat(9_000)}市馬`, '市馬', '平靜，市馬'],
  ['a long word', `${long}${'x'.repeat(90)}`, 'x'.repeat(70), `zz — at; ${'x'.repeat(90)}`],
  ['what folds', `${long}ﬁn Zoë ½`, '½', 'ﬁn Zoë ½'],
];
for (const [what, text, search, end] of around) {
  test(`excerpt around: ${what}`, () => {
    const excerpt = excerptAround(text, parsePhrases(search), 200);
    assert.ok(excerpt.endsWith(end) && [...excerpt].length <= 200, excerpt);
  });
}

test('excerpt around: a phrase is found wherever it lies', () => {
  for (let before = 1_990; before < 2_060; before += 1) {
    const text = `${'-'.repeat(before)}at${'-'.repeat(20)}k ${'zz '.repeat(2_000)}`;
    assert.ok(excerptAround(text, parsePhrases('at-k'), 200).includes('at---'), `${before}`);
  }
});

const pieces = [
  ...['苹果', 'cash', '½', 'ﬁ', '"', ' AND ', '*', 'brk-b', 'é', 'e\u0301', 'ー', 'ﾞ', '\u0000'],
  ...[' ', '’', 'ß', '𠀀'],
];
const anyText = fc.oneof(
  anyTextUpTo(20),
  fc.array(fc.constantFrom(...pieces), { maxLength: 200 }).map((parts) => parts.join('')),
);

test('whatever the text: a search for part of it finds it, with all words marked, in an excerpt of bounded length', () => {
  fc.assert(
    fc.property(anyText, anyText, anyText, (before, search, after) => {
      const phrases = parsePhrases(search);
      const found = findExcerpt([`${before} ${search} ${after}`], phrases);
      if (phrases.length === 0) return assert.deepEqual(found?.matches, []);
      assert.ok(found !== null && found.excerpt.length <= 290);
      const marked = found.matches.map(([start, length]) =>
        [...found.excerpt].slice(start, start + length).join(''),
      );
      assert.ok(marked.length > 0 && marked.every((text) => splitWords(text).length > 0));
      const arePlain = phrases.flat().every((word) => /^[\p{L}\p{N}\p{M}]+$/u.test(word));
      assert.ok(arePlain, 'nothing has a meaning in a query');
    }),
    { numRuns: 200 },
  );
});
