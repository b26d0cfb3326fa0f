import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  decisionsQuery,
  readFeedChoice,
  feedPath,
  searchQuery,
} from '../../src/features/pages/browser/pages/decision-feed.ts';
import { splitMatches, speaker } from '../../src/features/pages/browser/pages/conversation.ts';
import { tableOf } from '../support/text-table.ts';

/** The page of decisions, and of words in conversations. */

test('the address of the feed has its filters, and its requests have those that they take', () => {
  for (const [search, path, decisions, messages] of tableOf<[string, string, string, string]>(`
                                          |                                | limit=100                            | limit=20
    ?kind=refusal&symbol=BRK-B&days=clean | ?kind=refusal&symbol=BRK-B     | kind=refusal&symbol=BRK-B&limit=100  | limit=20
    ?models=a%231,b&q=a+%26+b             | ?models=a%231,b&q=a%20%26%20b  | models=a%231,b&limit=100             | models=a%231,b&q=a%20%26%20b&limit=20`)) {
    const choice = readFeedChoice(search);
    assert.equal(feedPath(choice), `/decision-feed${path}`);
    const requests = [decisionsQuery(choice), searchQuery(choice)];
    assert.deepEqual(requests, [`?${decisions}`, `?${messages}`]);
    const older = readFeedChoice(`${search || '?'}&before=failure:1:%23`);
    const before = decisions.replace('limit', 'before=failure%3A1%3A%23&limit');
    assert.equal(decisionsQuery(older), `?${before}`);
  }
});

test('matches of a search are marked in characters, whatever their length', () => {
  const excerpts: [excerpt: string, matches: number[][], pieces: string][] = [
    ['no match', [], 'no match'],
    ['one two', [[0, 3]], '[one] two'],
    [
      '𠀀 two 🚀 three',
      [
        [2, 3],
        [8, 5],
      ],
      '𠀀 [two] 🚀 [three]',
    ],
    [
      '苹果',
      [
        [0, 1],
        [1, 1],
      ],
      '[苹][果]',
    ],
  ];
  for (const [excerpt, matches, expected] of excerpts) {
    const pieces = splitMatches(excerpt, matches);
    const marked = pieces.map(({ text, isMatch }) => (isMatch ? `[${text}]` : text));
    assert.equal(marked.join(''), expected);
  }
});

test('only the first system message is an instruction to the model; later ones are notes on an answer', () => {
  const roles = ['system', 'user', 'assistant', 'system', 'tool'] as const;
  const said = roles.map((role, index) => speaker({ role, message_index: index }));
  const model = ['Instructions to the model', 'Message to the model', 'Model'];
  assert.deepEqual(said, [...model, 'Note by the service', 'Tool']);
});
