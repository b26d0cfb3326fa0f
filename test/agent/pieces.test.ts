import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dialects } from '../../src/core/agent/provider/ask.ts';
import type { ApiDialect } from '../../src/core/domain/vocabulary.ts';
import { asText, type Json } from '../../src/core/json/json.ts';
import { tableOf } from '../support/text-table.ts';

/**
 * Calls that come in odd pieces: no call is lost, none is made twice. Shapes of public reports
 * about servers and gateways.
 */

const BUY = '{"symbol":"AAPL","amount":2}';
const MSFT = '{"symbol":"MSFT","amount":1}';
const BOUGHT = `buy ${BUY}`;
const BOTH = `buy ${BUY} & buy ${MSFT}`;

/** The calls in a stream of events, `name arguments` each. */
function callsIn(api: ApiDialect, events: readonly object[]): string {
  const assembler = dialects[api].assemble();
  for (const event of events) assembler.take(event as Json, asText((event as Json)['type']) ?? '');
  assert.ok(assembler.isComplete(true));
  const { toolCalls } = dialects[api].read(assembler.body(), 1);
  assert.equal(new Set(toolCalls.map(({ id }) => id)).size, toolCalls.length);
  return toolCalls.map(({ name, arguments: text }) => `${name} ${text}`).join(' & ');
}

/**
 * Pieces of Chat Completions, `index id name arguments` each, `-` for what a piece lacks; `AA`,
 * `BB` and `CC` are the three parts of the first order, `AAPL` and `MSFT` whole orders.
 */
const pieces = tableOf<[what: string, pieces: string, calls: string]>(`
  as OpenAI sends it                        | 0 a buy '', 0 - - AA, 0 - - BB, 0 - - CC           | ${BOUGHT}
  two, one after the other                  | 0 a buy '', 0 - - AAPL, 1 b buy '', 1 - - MSFT     | ${BOTH}
  two heads, then their arguments           | 0 a buy '', 1 b buy '', 0 - - AAPL, 1 - - MSFT     | ${BOTH}
  no index, id and name with every piece    | - a buy '', - a buy AA, - a buy BB, - a buy CC     | ${BOUGHT}
  index null, id and name with every piece  | null a buy '', null a buy AA, null a buy BB, null a buy CC | ${BOUGHT}
  another id with every piece               | 0 a buy '', 0 b '' AA, 0 c '' BB, 0 d '' CC        | ${BOUGHT}
  another id and the name with every piece  | 0 a buy '', 0 b buy AA, 0 c buy BB, 0 d buy CC     | ${BOUGHT}
  an empty object first, as text            | 0 a buy {}, 0 - - AA, 0 - - BB, 0 - - CC           | ${BOUGHT}
  an empty object first                     | 0 a buy OBJECT, 0 - - AA, 0 - - BB, 0 - - CC       | ${BOUGHT}
  a bracket first                           | 0 a buy {, 0 - - AA, 0 - - BB, 0 - - CC            | ${BOUGHT}
  the whole again at the end                | 0 a buy '', 0 - - AA, 0 - - BB, 0 - - CC, 0 - - AAPL | ${BOUGHT}
  the name again at the end                 | 0 a buy AAPL, 0 a buy ''                           | ${BOUGHT}
  the name again at the end, without an id  | 0 a buy AAPL, 0 - buy ''                           | ${BOUGHT}
  the name in pieces                        | 0 a b '', 0 - uy AA, 0 - - BB, 0 - - CC            | ${BOUGHT}
  an index that counts on                   | 0 a buy '', 1 - - AA, 2 - - BB, 3 - - CC           | ${BOUGHT}
  an index as text                          | TEXT a buy '', 0 - - AA, TEXT - - BB, 0 - - CC     | ${BOUGHT}
  two with one id                           | 0 a buy AAPL, 1 a buy MSFT                         | ${BOTH}
  two with one index                        | 0 a buy AAPL, 0 b buy MSFT                         | ${BOTH}
  two with one index, in pieces             | 0 a buy '', 0 - - AAPL, 0 b buy '', 0 - - MSFT     | ${BOTH}
  two without index and id                  | - - buy AAPL, - - buy MSFT                         | ${BOTH}
  two without index                         | - a buy AA, - - - BB, - - - CC, - b buy MSFT       | ${BOTH}
  an index and id that repeat the name      | 0 a buy AA, 1 a buy BB, 2 a buy CC                 | ${BOUGHT}
  a name that grows                         | 0 a b '', 0 a buy '', 0 - - AAPL                   | ${BOUGHT}
  blanks with the name at the end           | 0 a buy AAPL, 0 - buy BLANK                        | ${BOUGHT}
  the whole call again, with its id         | 0 a buy AAPL, 0 b buy MSFT, 0 a buy AAPL           | ${BOTH}
  two without index, encoded twice          | - a buy TWICE, - b buy MSFT                        | ${BOTH}
  two heads without index, then their arguments | - a buy '', - b buy '', - a - AAPL, - b - MSFT | ${BOTH}
  two heads without anything                | 0 a get_portfolio '', 0 b get_portfolio ''         | get_portfolio {} & get_portfolio {}
  two tools, and arguments that come twice  | 0 a buy '', 0 b sell '', 0 - - AAPL, 0 - - AAPL    | buy {} & sell ${BUY}${BUY}
  a head without a name                     | 0 a buy AAPL, 1 b - -, 1 - buy -, 1 - - MSFT       | ${BOTH}
  two with one index, without ids           | 0 - buy AAPL, 0 - buy MSFT                         | ${BOTH}
  two tools with one index                  | 0 a get_portfolio '', 0 b buy AAPL                 | get_portfolio {} & ${BOUGHT}
  two tools without index                   | - - get_portfolio '', - - buy AAPL                 | get_portfolio {} & ${BOUGHT}
`);
const TEXTS: Record<string, unknown> = {
  ...{ AA: '{"symbol":', BB: '"AAPL",', CC: '"amount":2}', AAPL: BUY, MSFT },
  ...{ OBJECT: {}, "''": '', BLANK: '\n', TWICE: JSON.stringify(BUY) },
};
const INDEXES: Record<string, unknown> = { null: null, TEXT: '0' };

for (const [what, text, calls] of pieces)
  test(`chat: ${what}`, () => {
    const deltas = text.split(', ').map((piece) => {
      const [index = '', id = '', name = '', part = ''] = piece.split(' ');
      return {
        ...(index !== '-' && { index: index in INDEXES ? INDEXES[index] : Number(index) }),
        ...(id !== '-' && { id }),
        function: {
          ...(name !== '-' && { name: name === "''" ? '' : name }),
          ...(part !== '-' && { arguments: part in TEXTS ? TEXTS[part] : part }),
        },
      };
    });
    const chunks = deltas.map((call) => ({
      choices: [{ index: 0, delta: { tool_calls: [call] } }],
    }));
    assert.equal(
      callsIn('chat', [...chunks, { choices: [{ finish_reason: 'tool_calls' }] }]),
      calls,
    );
  });

const begun = (index: number, id: string, input: object = {}) => ({
  ...{ type: 'content_block_start', index },
  content_block: { type: 'tool_use', id, name: 'buy', input },
});
const input = (index: number, partial_json: string) => ({
  ...{ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json } },
});
const blockEnd = (index: number) => ({ type: 'content_block_stop', index });
const messagesEnd = [
  { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
  { type: 'message_stop' },
];
const added = (output_index: number, id: string, text: string, type = 'added') => ({
  ...{ type: `response.output_item.${type}`, output_index },
  item: { type: 'function_call', id, call_id: `c-${id}`, name: 'buy', arguments: text },
});
const args = (item_id: string, type: string, text: object) => ({
  ...{ type: `response.function_call_arguments.${type}`, output_index: 0, item_id, ...text },
});
const responsesEnd = (...output: object[]) => ({
  ...{ type: 'response.completed', response: { status: 'completed', output } },
});
const called = (call_id: string, text: string, type: string) => ({
  ...added(0, 'f', text, type),
  item: { ...added(0, 'f', text).item, call_id },
});
const NAMELESS = { type: 'function_call', name: 'buy', arguments: '' };
const reasoning = { type: 'reasoning', id: 'rs', summary: [], encrypted_content: 'e' };
const reasoned = { type: 'response.output_item.done', output_index: 0, item: reasoning };

const streams: [api: ApiDialect, what: string, events: object[], calls: string][] = [
  [
    ...(['messages', 'two blocks with one index'] as const),
    [begun(0, 'a'), input(0, BUY), begun(0, 'b'), input(0, MSFT), ...messagesEnd],
    BOTH,
  ],
  [
    ...(['messages', 'an empty object first'] as const),
    [
      begun(0, 'a'),
      ...['{}', '{"symbol":"AAPL",', '"amount":2}'].map((part) => input(0, part)),
      ...messagesEnd,
    ],
    BOUGHT,
  ],
  [
    ...(['messages', 'two blocks with one index, their input at once, and no ends'] as const),
    [begun(0, 'a', JSON.parse(BUY)), begun(0, 'b', JSON.parse(MSFT)), ...messagesEnd],
    BOTH,
  ],
  [
    ...(['messages', 'the whole message twice'] as const),
    [
      ...[{ type: 'message_start' }, begun(0, 'a'), input(0, BUY), blockEnd(0)],
      ...[{ type: 'message_start' }, begun(0, 'b'), input(0, BUY), blockEnd(0), ...messagesEnd],
    ],
    BOUGHT,
  ],
  [
    ...(['messages', 'a block twice, with one id'] as const),
    [begun(0, 'a'), input(0, BUY), blockEnd(0), begun(0, 'a'), input(0, BUY), ...messagesEnd],
    BOUGHT,
  ],
  [
    ...(['messages', 'two blocks with one index and one id'] as const),
    [begun(0, 'a'), input(0, BUY), blockEnd(0), begun(0, 'a'), input(0, MSFT), ...messagesEnd],
    BOTH,
  ],
  [
    'messages',
    'a block begun twice, with two ids',
    [begun(0, 'a'), begun(0, 'b'), input(0, BUY), ...messagesEnd],
    BOUGHT,
  ],
  [
    'messages',
    'a block begun twice',
    [begun(0, 'a'), begun(0, 'a'), input(0, BUY), ...messagesEnd],
    BOUGHT,
  ],
  ['messages', 'the input at once', [begun(0, 'a', JSON.parse(BUY)), ...messagesEnd], BOUGHT],
  [
    'messages',
    '[DONE] instead of the last event',
    [begun(0, 'a'), input(0, BUY), ...messagesEnd.slice(0, 1)],
    BOUGHT,
  ],
  [
    ...(['responses', 'two items with one index'] as const),
    [added(0, 'a', BUY, 'done'), added(0, 'b', MSFT, 'done'), responsesEnd()],
    BOTH,
  ],
  ...[
    { id: 'z', call_id: 'c-z', index: 0 }, // the last event has ids of its own
    { id: 'z', call_id: 'c-a', index: 0 },
    { id: '', call_id: '', index: 0 },
  ].map(({ id, call_id }): (typeof streams)[number] => {
    const item = { ...added(0, 'a', BUY).item, id, call_id };
    const events = [
      added(0, 'a', ''),
      args('a', 'done', { arguments: BUY }),
      added(0, 'a', BUY, 'done'),
    ];
    return [
      'responses',
      `at the end the ids ${id}, ${call_id}`,
      [...events, responsesEnd(item)],
      BOUGHT,
    ];
  }),
  ...[
    ['', 'c1', 'c2'],
    ['f', 'c1', 'c2'],
    ['f', '', ''],
  ].map(([id = '', one = '', other = '']): (typeof streams)[number] => {
    const item = (index: number, text: string, call_id: string) => ({
      ...added(index, id, text, 'done'),
      item: { ...added(index, id, text).item, id, call_id },
    });
    const events = [item(0, BUY, one), item(1, MSFT, other), responsesEnd()];
    return ['responses', `two items with the ids "${id}", "${one}" and "${other}"`, events, BOTH];
  }),
  [
    ...(['responses', 'another id with every event'] as const),
    [
      { ...added(0, 'a', ''), item: { ...added(0, 'a', '').item, call_id: 'c' } },
      { ...added(0, 'b', BUY, 'done'), item: { ...added(0, 'b', BUY).item, call_id: 'c' } },
      responsesEnd({ ...added(0, 'd', BUY).item, call_id: 'c' }),
    ],
    BOUGHT,
  ],
  [
    ...(['responses', 'two calls with one id and one place'] as const),
    [
      called('c1', '', 'added'),
      called('c2', '', 'added'),
      called('c2', MSFT, 'done'),
      called('c1', BUY, 'done'),
      responsesEnd(),
    ],
    BOTH,
  ],
  [
    ...(['responses', 'neither ids nor places'] as const),
    [
      { type: 'response.output_item.added', item: NAMELESS },
      { type: 'response.output_item.done', item: { ...NAMELESS, arguments: BUY } },
      responsesEnd({ ...NAMELESS, arguments: BUY }),
    ],
    BOUGHT,
  ],
  [
    ...(['responses', 'another place at the end'] as const),
    [
      reasoned,
      { ...added(2, 'a', BUY, 'done'), item: { ...NAMELESS, arguments: BUY } },
      responsesEnd(reasoning, { ...NAMELESS, arguments: BUY }),
    ],
    BOUGHT,
  ],
  [
    ...(['responses', 'an empty object first'] as const),
    [
      { ...added(0, 'a', ''), item: { ...added(0, 'a', '').item, arguments: {} } },
      args('', 'delta', { delta: BUY }),
      responsesEnd(),
    ],
    BOUGHT,
  ],
  [
    ...(['responses', 'an item that the last event lacks'] as const),
    [reasoned, added(1, 'a', BUY, 'done'), responsesEnd(reasoning)],
    BOUGHT,
  ],
  [
    ...(['responses', 'no item is done'] as const),
    [
      added(0, 'a', ''),
      args('a', 'delta', { delta: BUY.slice(0, 9) }),
      args('a', 'delta', { delta: BUY.slice(9) }),
      responsesEnd(),
    ],
    BOUGHT,
  ],
  [
    ...(['responses', 'an item is done without its arguments'] as const),
    [
      added(0, 'a', ''),
      args('a', 'done', { arguments: BUY }),
      added(0, 'a', '', 'done'),
      responsesEnd(),
    ],
    BOUGHT,
  ],
  [
    ...(['responses', 'all of it, and again at the end'] as const),
    [
      added(0, 'a', ''),
      args('a', 'done', { arguments: BUY }),
      added(0, 'a', BUY, 'done'),
      responsesEnd(added(0, 'a', BUY).item),
    ],
    BOUGHT,
  ],
];
for (const [api, what, events, calls] of streams)
  test(`${api}: ${what}`, () => assert.equal(callsIn(api, events), calls));

/** Arguments as providers send them, and as they are read: JSON text. */
const texts = tableOf<[sent: string, read: string]>(`
  "null"               | {}
  null                 | {}
  ""                   |
  "{}"                 | {}
  "{}{\\"a\\":1}"      | {"a":1}
  "{{\\"a\\":1}"       | {"a":1}
  "{\\"a\\":1}{\\"a\\":2}" | {"a":1}{"a":2}
  "\\"{}\\""           | {}
`);
for (const [sent, read] of texts)
  test(`arguments ${sent}`, () => {
    const call = { id: 'a', function: { name: 'buy', arguments: JSON.parse(sent) } };
    const choices = [{ message: { tool_calls: [call] }, finish_reason: 'tool_calls' }];
    assert.equal(dialects.chat.read({ choices }, 1).toolCalls[0]?.arguments, read);
  });

test('chat: a whole message after its pieces replaces them', () => {
  const call = (id: string, text: string) => ({ id, function: { name: 'buy', arguments: text } });
  const content = 'I buy.';
  const [one, other] = [call('a', BUY), call('b', MSFT)];
  for (const last of [
    [one, other],
    [call('x', BUY), call('y', MSFT)],
  ]) {
    const chunks = [
      { delta: { content, tool_calls: [{ index: 0, ...one }] } },
      { delta: { tool_calls: [{ index: 1, ...other }] } },
      { message: { content, tool_calls: last }, finish_reason: 'tool_calls' },
    ].map((choice) => ({ choices: [{ index: 0, ...choice }] }));
    assert.equal(callsIn('chat', chunks), BOTH);
  }
});

test('arguments that nest too deep are malformed, and no error', () => {
  let deep: unknown = {};
  for (let level = 0; level < 10_000; level += 1) deep = { deep };
  const call = { id: 'a', function: { name: 'buy', arguments: deep } };
  const choices = [{ message: { tool_calls: [call] }, finish_reason: 'tool_calls' }];
  const { toolCalls } = dialects.chat.read({ choices }, 1);
  assert.equal(toolCalls[0]?.arguments, '"deeply nested JSON"');
});
