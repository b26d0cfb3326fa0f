import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChatMessage } from '../../src/agent/model.ts';
import { firstMessages } from '../../src/agent/prompt.ts';
import {
  createSimulatedModel,
  temperamentOf,
  temperaments,
} from '../../src/agent/players/simulated-model.ts';
import { addDays } from '../../src/basics/calendar.ts';
import { openDatabase } from '../../src/database/database.ts';
import { pricesNow } from '../../src/database/price-writes.ts';
import { storeBars } from '../../src/database/prices.ts';
import { fromDollars } from '../../src/basics/money.ts';
import type { Brief } from '../../src/wire/protocol.ts';
import { syntheticBars } from '../../src/prices/synthetic.ts';
import { runNames } from '../../src/basics/runs.ts';
import { openMarket } from '../../src/trading/market.ts';
import { describePortfolio } from '../../src/trading/trading-day.ts';
import { callTool, type LedgerDay } from '../support/trading-day.ts';

const SYMBOLS = ['AAPL', 'AMD', 'AMZN', 'COST', 'CSCO', 'META', 'MSFT', 'NVDA', 'PEP', 'TSLA'];
const FIRST = '2025-03-03';
const database = openDatabase(':memory:');
const days = Array.from({ length: 200 }, (_, index) => addDays(FIRST, index - 30));
for (const symbol of SYMBOLS)
  storeBars(database, syntheticBars(symbol, days, '2030-01-01'), {
    source: 'synthetic',
  });

/** Runs a simulated model over one day through the real tools; returns the conversation. */
async function trade(
  day: LedgerDay,
  signature: string,
  family = signature,
): Promise<ChatMessage[]> {
  const quotes = SYMBOLS.map((symbol) => {
    const { open, previousClose } = day.market.quote(symbol);
    return {
      symbol,
      open: open && open / 10_000,
      previousClose: previousClose && previousClose / 10_000,
    };
  });
  const brief: Brief = { date: day.market.date, ...describePortfolio(day), quotes, costs: null };
  const model = createSimulatedModel({ signature, family }, brief);
  const conversation: ChatMessage[] = firstMessages(brief);
  for (let step = 0; step < 10; step += 1) {
    const { content, toolCalls } = await model(conversation);
    conversation.push({ role: 'assistant', content, toolCalls });
    if (toolCalls.length === 0) return conversation;
    for (const call of toolCalls)
      conversation.push({
        role: 'tool',
        id: call.id,
        content: (await callTool(day, call)).content,
      });
  }
  throw new Error('The model does not end its day');
}

/** Twenty weekdays of one model; each day continues from the last. */
async function tradeOn(
  signature: string,
  family = signature,
): Promise<{ day: LedgerDay; conversations: ChatMessage[][] }> {
  const universe = new Set(SYMBOLS);
  const conversations: ChatMessage[][] = [];
  let day: LedgerDay = {
    market: openMarket(pricesNow(database), FIRST, SYMBOLS),
    universe,
    actions: [],
    portfolio: { cash: fromDollars(10_000), holdings: new Map() },
  };
  for (let index = 0; index < 28; index += 1) {
    day = { ...day, market: openMarket(pricesNow(database), addDays(FIRST, index), SYMBOLS) };
    conversations.push(await trade(day, signature, family));
  }
  return { day, conversations };
}

/** A signature of each temperament. */
const signatures = temperaments.map(
  ({ name }) =>
    Array.from({ length: 100 }, (_, index) => `model-${index}`).find(
      (signature) => temperamentOf(signature).name === name,
    ) as string,
);

for (const [index, { name }] of temperaments.entries()) {
  test(`a ${name} model really trades, and not like the others`, async () => {
    const { day, conversations } = await tradeOn(signatures[index] as string);
    assert.ok(day.actions.length > 0);
    assert.ok(
      conversations
        .flat()
        .some(({ role, content }) => role === 'assistant' && content.includes(name)),
    );
    assert.ok(day.portfolio.cash >= 0);
  });
}

test('the default models have all temperaments between them', () => {
  assert.equal(
    new Set(
      ['gpt-5', 'claude-sonnet-4.5', 'deepseek-v3.1', 'qwen3-max'].map(
        (signature) => temperamentOf(signature).name,
      ),
    ).size,
    temperaments.length,
  );
});

test('the same signature, date and portfolio give the same conversation; another of these another', async () => {
  const [one, again, other] = [
    await tradeOn('gpt-5'),
    await tradeOn('gpt-5'),
    await tradeOn('gpt-6'),
  ];
  assert.deepEqual(one.conversations, again.conversations);
  assert.notDeepEqual(one.conversations, other.conversations);
});

test('they make the mistakes of real models, and every one is refused', async () => {
  const errors: string[] = [];
  const said = new Set<string | undefined>();
  for (const signature of [...signatures, 'gpt-5', 'qwen3-max'])
    for (const { role, content } of (await tradeOn(signature)).conversations.flat()) {
      if (role === 'tool' && content.startsWith('{"error"')) errors.push(content);
      said.add(/^\d+ of my orders \w+ refused: /.exec(content)?.[0]);
    }
  for (const sentence of ['1 of my orders was refused: ', '2 of my orders were refused: '])
    assert.ok(said.has(sentence), sentence);
  for (const kind of [/cash is/, /not among the symbols/, /none is held/, /whole number/])
    assert.ok(
      errors.some((error) => kind.test(error)),
      String(kind),
    );
});

test('a model without prices ends its day', async () => {
  const market = openMarket(pricesNow(database), '2019-01-01', SYMBOLS);
  const conversation = await trade(
    {
      market,
      universe: new Set(SYMBOLS),
      actions: [],
      portfolio: { cash: fromDollars(10_000), holdings: new Map() },
    },
    signatures[0] as string,
  );
  assert.equal(conversation.at(-1)?.role, 'assistant');
});

test('repeats of an entry trade by one temperament and draw independently', async () => {
  for (const [index, family] of signatures.entries()) {
    const runs = await Promise.all(
      runNames({ signature: family, repeats: 3 }).map((name) => tradeOn(name, family)),
    );
    const words = runs.map(({ conversations }) =>
      conversations.map((messages) => messages.find(({ role }) => role === 'assistant')?.content),
    );
    const names = new Set(words.flat().map((text) => /^As a (\S+) trader/.exec(String(text))?.[1]));
    assert.deepEqual([...names], [temperaments[index]?.name]);
    assert.equal(new Set(words.map((texts) => JSON.stringify(texts))).size, 3);
    assert.equal(new Set(runs.map(({ day }) => day.portfolio.cash)).size, 3);
  }
});

test('a simulated model whose name begins with unreliable fails on some days, and any other never', async () => {
  const market = openMarket(pricesNow(database), FIRST, SYMBOLS);
  const portfolio = { cash: fromDollars(10_000), holdings: new Map() };
  const day: LedgerDay = { market, universe: new Set(SYMBOLS), actions: [], portfolio };
  const failuresOf = async (name: string) => {
    let failures = 0;
    for (const date of days) {
      const brief: Brief = { date, ...describePortfolio(day), quotes: [], costs: null };
      const model = createSimulatedModel({ signature: name, family: name }, brief);
      await model(firstMessages(brief)).catch(() => (failures += 1));
    }
    return failures;
  };
  const failures = await failuresOf('unreliable-model');
  assert.ok(failures > 3 && failures < 30, `${failures} of ${days.length}`);
  assert.equal(await failuresOf('reliable-model'), 0);
});
