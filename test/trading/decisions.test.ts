import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TradingSession } from '../../src/core/trading/session.ts';
import { createBooks, replayOf, setBars } from '../support/books.ts';
import { rowsAsText } from '../support/tables.ts';
import { tableOf } from '../support/text-table.ts';

/** What becomes of the calls of a day, whatever they are: its decisions, the first first. */

const PRICES = `
  AAPL 2025-01-03 100 100
  AAPL 2025-01-06 100 100
  MSFT 2025-01-03 200 200
  MSFT 2025-01-06 400 400
  ORLY 2025-01-03 30 30`;
const LONG = 'x'.repeat(78);

async function booksWith(open: string) {
  const books = createBooks(':memory:', { terms: { open, limits: { max_orders: 4 } } });
  setBars(books, PRICES);
  const session = await books.open('2025-01-06', 'model-a');
  return { ...books, session };
}

/** The last message before the calls has index 2. */
async function run(session: TradingSession, calls: readonly string[]) {
  const toolCalls = calls.map((call, index) => {
    const [name = '', ...args] = call.split(' ');
    return { id: `${index}`, name, arguments: args.join(' ') };
  });
  const nothing = { reasoning: null, usage: null, note: null };
  await session.answer({ type: 'answer', content: 'So be it.', toolCalls, ...nothing });
}

/** What is stored: the kind, the message, the trade, side, symbol, amount, and why it was refused. */
const DECISIONS = `SELECT kind, message_index, action_id, side, symbol, amount, substr(detail, 1, 26) || '…' FROM decisions ORDER BY place DESC`;

const cases = tableOf<[open: string, calls: string, decisions: string]>(`
  shown  | get_price {"symbol":"AAPL"}                          | no_trade - - - - - -
  shown  | get_price {"symbol":"TSLA"}, get_price {}            | malformed 4 - - - - get_price: symbol is missi…, no_trade - - - - - -
  shown  | buy {"symbol":"aapl","amount":"2"}                   | trade 3 1 buy AAPL - -
  shown  | buy {"symbol":"aapl","amount":"200"}                 | refusal 3 - buy AAPL - Cannot buy 200 AAPL at 100…, no_trade - - - - - -
  shown  | sell {"symbol":"msft","amount":1e300}                | malformed 3 - - - - sell: amount must be a who…, no_trade - - - - - -
  shown  | sell {"symbol":"a b","amount":1,"amount":2}          | malformed 3 - - - - sell: "amount" is named tw…, no_trade - - - - - -
  shown  | buy no json                                          | malformed 3 - - - - The arguments of buy are n…, no_trade - - - - - -
  shown  | sell, rebalance [], Buy {}                           | malformed 3 - - - - sell: symbol is missing. s…, malformed 4 - - - - rebalance: weights is miss…, malformed 5 - - - - There is no tool named "Bu…, no_trade - - - - - -
  shown  | buy {"symbol":"AAPL","amount":1}, get_portfolio {}, sell {"symbol":"AAPL","amount":9}, sell {"symbol":"AAPL","amount":1} | trade 3 1 buy AAPL - -, refusal 5 - sell AAPL 9 Cannot sell 9 AAPL: 1 are …, trade 6 2 sell AAPL - -
  shown  | rebalance {"weights":{"MSFT":0.5,"AAPL":0.2,"ORLY":0.1}} | refusal 3 - - ORLY - Cannot trade ORLY: it has …, trade 3 1 buy MSFT - -, trade 3 2 buy AAPL - -
  shown  | rebalance {"weights":{"NONE":0.5}}                   | refusal 3 - - - - Cannot rebalance: "NONE" i…, no_trade - - - - - -
  hidden | buy {"symbol":"MSFT","amount":20}, buy {"symbol":"AAPL","amount":1}, sell {"symbol":"MSFT","amount":2}, rebalance {"weights":{"MSFT":0.5,"ORLY":0.1}} | refusal 5 - sell MSFT 2 Cannot sell MSFT: none is …, trade 3 1 buy MSFT - -, trade 4 2 buy AAPL - -, trade 6 3 buy MSFT - -, refusal 6 - buy MSFT 5 Bought 4 of 5 MSFT at 400:…, refusal 6 - buy ORLY 33 Did not buy 33 ORLY: it ha…
  hidden | buy {"symbol":"MSFT","amount":30}, buy {"symbol":"AAPL","amount":1} | trade 3 1 buy MSFT - -, refusal 3 - buy MSFT 30 Bought 25 of 30 MSFT at 40…, refusal 4 - buy AAPL 1 Did not buy 1 AAPL: not en…
`);
for (const [open, calls, decisions] of cases)
  test(`with the open ${open}: ${calls}`, async () => {
    const { database, session, complete } = await booksWith(open);
    await run(session, calls.split(/, (?=[a-zA-Z_]+ |[a-z]+,)/));
    await complete(session);
    assert.equal(rowsAsText(database, DECISIONS).join(', '), decisions);
    assert.deepEqual((await replayOf(database)).problems, []);
  });

test('a refusal is cut, also in the middle of a character, and replays', async () => {
  const { database, session, complete } = await booksWith('shown');
  await run(session, [
    `buy {"symbol":"AAPL","amount":"${LONG}😀"}`,
    `buy ${`{"${LONG}":1,`.repeat(9)}`,
  ]);
  await complete(session);
  const details = rowsAsText(database, 'SELECT detail FROM decisions WHERE detail IS NOT NULL');
  assert.match(String(details[1]), /x\ufffd…/);
  assert.deepEqual((await replayOf(database)).problems, []);
});

test('a malformed search of news is one in the replay too, whose results come from the record', async () => {
  const news = async () => ({ refusal: 'The news search failed' });
  const books = createBooks(':memory:', { news });
  const { database, complete } = books;
  setBars(books, PRICES);
  const session = await books.open('2025-01-06', 'model-a');
  await run(session, ['search_news {"query":"AAPL"}', 'search_news {}']);
  await complete(session);
  const stored = 'SELECT kind, tool, detail FROM decisions WHERE detail IS NOT NULL';
  assert.deepEqual(rowsAsText(database, stored), [
    'malformed search_news search_news: query is missing.',
  ]);
  assert.deepEqual((await replayOf(database)).problems, []);
});

test('a commit that fails and is repeated has each decision once', async () => {
  for (const open of ['shown', 'hidden']) {
    const { database, session } = await booksWith(open);
    await run(session, ['buy {"symbol":"AAPL","amount":1}', 'get_portfolio {}']);
    database
      .statement(
        `CREATE TRIGGER full BEFORE INSERT ON decisions BEGIN SELECT RAISE(ABORT, 'full'); END`,
      )
      .run();
    const end = () => session.end({ status: 'finished', summary: '' });
    await assert.rejects(end(), /full/);
    database.statement('DROP TRIGGER full').run();
    await end();
    assert.deepEqual(rowsAsText(database, DECISIONS), ['trade 3 1 buy AAPL - -']);
  }
});
