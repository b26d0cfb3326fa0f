import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callIn, createBooks, replayOf, setBars } from '../support/books.ts';
import { richBooks } from '../support/rich-books.ts';
import { readDeeds, undone, withoutTriggers } from '../support/tables.ts';
import { like, tableOf } from '../support/text-table.ts';

const NOTHING = { superseded: '0 of 0', problems: [], unverifiable: [], fromOutside: 0 };

test('untouched books replay in full: the active and the superseded, with news from the record', async () => {
  const { database } = await richBooks();
  const all = { ...NOTHING, same: '8 of 8', superseded: '1 of 1', fromOutside: 2 };
  assert.deepEqual(await replayOf(database), all);
  const left = database.statement('SELECT name FROM sqlite_temp_schema').all();
  assert.deepEqual(left, [], 'nothing is left behind');
});

const SESSION = (model: string, date: string) =>
  `session_id = (SELECT session_id FROM trading_sessions WHERE model = '${model}' AND date = '${date}' AND status = 'active')`;

/** What is done to the rich books, and one thing that replay says of it; `*` is any text. */
const forged = `
  an open
    UPDATE price_data SET open = 102.01 WHERE symbol = 'AAPL' AND date = '2025-01-06'
    => model-a 2025-01-06: its morning report, line 4: stored "*10020", replayed "*10020.1"
  a close before the morning
    UPDATE price_data SET close = 101.5 WHERE symbol = 'AAPL' AND date = '2025-01-03'
    => model-a 2025-01-06: its morning report, line 12: stored "AAPL 101 102", replayed "AAPL 101.5 102"
  the close of the day
    UPDATE price_data SET close = 107.0001 WHERE symbol = 'AAPL' AND date = '2025-01-08'
    => model-a 2025-01-08: positions 2, portfolio_value_e4: stored 104678000, replayed 104678008
  an old bar that a model read
    UPDATE price_data SET open = 98 WHERE symbol = 'AAPL' AND date = '2025-01-02'
    => model-a 2025-01-03: step 1, get_price_history, result: stored *"open":99,*, replayed *"open":98,*
  a price as it was before a revision
    UPDATE price_revisions SET close = 199 WHERE symbol = 'MSFT' AND date = '2025-01-03'
    => model-a 2025-01-06: step 1, get_price, result: stored *198*, replayed *199*
  when a price was revised
    UPDATE price_revisions SET replaced = 1 WHERE symbol = 'MSFT' AND date = '2025-01-03'
    => model-b 2025-01-06: its morning report, line 13: stored "MSFT 198 196", replayed "MSFT 201 196"
  a split
    UPDATE stock_splits SET numerator = 5
    => model-a 2025-01-08: its morning report, line 4: stored "*10434.8", replayed "*10574.8"
  the time of a split
    UPDATE stock_splits SET date = '2025-01-07'
    => model-a 2025-01-07: *
  a dividend
    UPDATE dividends SET cash_e6 = 260000
    => model-a 2025-01-07: its morning report, line 3: stored "Cash: 8996.8", replayed "Cash: 8996.88"
  an order of an answer
    UPDATE reasoning_logs SET tool_calls = replace(tool_calls, '\\"amount\\":10', '\\"amount\\":11') WHERE tool_calls LIKE '%amount%:10}%'
    => model-a 2025-01-03: step 2, buy, result: stored *10*, replayed *11*
  the last words of a day
    UPDATE reasoning_logs SET content = 'Done' WHERE content = 'done'
    => model-a 2025-01-03: trading_sessions, session_summary: stored "done", replayed "Done"
  a result
    UPDATE reasoning_logs SET content = replace(content, '3333', '3334')
    => model-a 2025-01-03: step 1, calculate, result: stored *3334*, replayed *3333*
  a line of a morning report
    UPDATE reasoning_logs SET content = replace(content, 'Cash: 10000', 'Cash: 20000')
    => model-a 2025-01-03: its morning report, line 3: stored "Cash: 20000", replayed "Cash: 10000"
  a word of the prompt
    UPDATE reasoning_logs SET content = replace(content, 'stock trader', 'day trader')
    => model-a 2025-01-03: its prompt, line 1: stored *day trader*, replayed *stock trader*
  an exchange
    UPDATE exchanges SET numerator = 3
    => model-a 2025-01-07: session_exchanges AAPL 2025-01-07 MSFT, numerator: stored 1, replayed 3
  a note in the record
    UPDATE trading_sessions SET note = 'Sell AAPL.' WHERE ${SESSION('model-b', '2025-01-03')}
    => model-b 2025-01-03: trading_sessions, note: stored "Sell AAPL.", replayed "Hold AAPL."
  a count of refusals
    UPDATE tool_usage SET refused = 0 WHERE tool_name = 'buy'
    => model-a 2025-01-03: tool_usage buy, refused: stored 0, replayed 1
  the entry: its prompt
    UPDATE simulation_runs SET entry = json_set(entry, '$.prompt', 'Be bold.')
    => model-a 2025-01-03: its prompt, line 12: stored nothing, replayed ""
  the entry: whether it keeps notes
    UPDATE simulation_runs SET entry = json_set(entry, '$.notes', json('false'))
    => model-a 2025-01-03: its morning report, line 7: stored "Your note: none"*
  the terms: the initial cash
    UPDATE jobs SET agent_config = json_set(agent_config, '$.initial_cash', 10001)
    => model-a 2025-01-03: its morning report, line 3: stored "Cash: 10000", replayed "Cash: 10001"
  the terms: a symbol of the universe
    UPDATE jobs SET agent_config = json_set(agent_config, '$.stock_symbols', json('["AAPL","MSFT"]'))
    => model-a 2025-01-03: its morning report, line 12: stored "ORLY 30 -", replayed nothing
  the terms: commission
    UPDATE jobs SET agent_config = json_set(agent_config, '$.commission_per_trade', 1)
    => model-a 2025-01-03: its morning report, line 7: * replayed "Trading costs: each order pays $1."
  the terms: fewer steps than were used
    UPDATE jobs SET agent_config = json_set(agent_config, '$.max_steps', 1)
    => model-a 2025-01-03: trading_sessions, steps: stored 3, replayed 1
  a version of the wording that is not known
    UPDATE trading_sessions SET wording = 9 WHERE ${SESSION('model-a', '2025-01-03')}
    => model-a 2025-01-03: it cannot be read: its model read prompt version 9, which this program does not know
  a missing message
    DELETE FROM reasoning_logs WHERE tool_name = 'calculate'
    => model-a 2025-01-03: it cannot be replayed: step 1 has 1 results of 2 tool calls
  the number of a message
    UPDATE reasoning_logs SET message_index = 60 WHERE content = 'done' AND ${SESSION('model-a', '2025-01-07')}
    => model-a 2025-01-07: reasoning_logs, message_index: stored "0 1 60", replayed "0 1 2"`;
test('whatever is forged is named: replay makes everything from prices, answers and terms', async () => {
  const { database } = await richBooks();
  const triggers = withoutTriggers(database);
  const missed: unknown[] = [];
  for (const { name, statements, said } of readDeeds(forged))
    await undone(database, [...triggers, ...statements], async () => {
      const { problems, unverifiable } = await replayOf(database);
      const lines = [...problems, ...unverifiable.map((line) => `lost: ${line}`)];
      const [start = '', ...parts] = String(said[0]).split('*');
      const isSaid = lines.some(
        (line) =>
          line.startsWith(start) &&
          line.endsWith(parts.at(-1) ?? start) &&
          parts.every((part) => line.includes(part)),
      );
      if (!isSaid) missed.push([name, said, ...lines.slice(0, 12)]);
    });
  assert.deepEqual(missed, []);
});

/** What is done to the first prompt of model-a, and the only line that is said of it. */
const changedPrompts = tableOf<[name: string, sql: string, said: string]>(`
  one word           | replace(content, 'stock trader', 'day trader')                        | line 1: stored "You are a day trader…", replayed "You are a stock trader…"
  every line         | replace(content, char(10), '!' # char(10)) # '!'                      | line 1: stored "…of the!", replayed "…of the"
  one line more      | replace(content, 'Rules:', 'Be bold.' # char(10) # 'Rules:')          | line 4: stored "Be bold.", replayed "Rules:"
  an empty line more | content # char(10)                                                    | line …: stored "", replayed nothing
  one long line      | hex(zeroblob(100000))                                                 | line 1: stored "${'0'.repeat(56)}…", replayed "You are a …"`);
test('a changed message is one line: where it begins to differ, with excerpts', async () => {
  const { database } = await richBooks();
  for (const [name, sql, said] of changedPrompts) {
    const content = sql.replaceAll('#', '||');
    const changed = `UPDATE reasoning_logs SET content = ${content} WHERE message_index = 0 AND ${SESSION('model-a', '2025-01-03')}`;
    await undone(database, [...withoutTriggers(database), changed], async () => {
      const lines = (await replayOf(database)).problems;
      assert.equal(lines.length, 1, `${name}: ${lines.slice(0, 5).join('\n')}`);
      assert.match(String(lines[0]), like(`model-a 2025-01-03: its prompt, ${said}`), name);
      assert.ok(String(lines[0]).length < 220, name);
    });
  }
});

test('prices that change while sessions run are seen at the right time', async () => {
  const books = createBooks();
  setBars(books, 'AAPL 2025-01-02 100 101\nAAPL 2025-01-03 100 101');
  await books.day('2025-01-02', [['buy', 'AAPL', 10]]);
  const session = await books.open('2025-01-03');
  const call = (name: string, args: object) => callIn(session, name, args);
  await call('get_price', { symbol: 'AAPL', date: '2025-01-02' });
  books.setBar('AAPL', '2025-01-02', { open: 99, close: 98 });
  await call('get_price', { symbol: 'AAPL', date: '2025-01-02' });
  books.setBar('AAPL', '2025-01-03', { open: 100, close: 110 });
  await call('sell', { symbol: 'AAPL', amount: 1 });
  books.setBar('AAPL', '2025-01-03', { open: 100, close: 115 });
  await books.complete(session);
  books.setBar('AAPL', '2025-01-03', { open: 100, close: 120 });
  assert.deepEqual(await replayOf(books.database), { same: '2 of 2', ...NOTHING });
});

test('a price that changed after the clock was set back does not make the day before differ', async () => {
  const books = createBooks();
  for (const date of ['2025-01-03', '2025-01-06', '2025-01-07'])
    books.setBar('AAPL', date, { open: 50, close: 50 });
  books.wait(3_600);
  await books.day('2025-01-03', [['buy', 'AAPL', 10]]);
  books.wait(5 * 86_400);
  await books.day('2025-01-06', []);
  books.wait(-4 * 86_400);
  books.setBar('AAPL', '2025-01-06', { open: 50, close: 60 });
  books.wait(3_600);
  await books.day('2025-01-07', []);
  assert.deepEqual(await replayOf(books.database), { same: '3 of 3', ...NOTHING });
});
