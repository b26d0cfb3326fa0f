import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChatMessage } from '../../src/core/agent/model.ts';
import { firstMessages } from '../../src/core/agent/prompt.ts';
import {
  createSimulatedModel,
  chooseTemperament,
  temperaments,
} from '../../src/core/agent/players/simulated-model.ts';
import { addDays } from '../../src/core/time/calendar.ts';
import { openDatabase } from '../../src/core/database/database.ts';
import { latestPrices } from '../../src/core/database/price-writes.ts';
import { storeBars } from '../../src/core/database/prices.ts';
import { fromDollars } from '../../src/core/money/money.ts';
import { syntheticBars } from '../../src/core/prices/synthetic.ts';
import { runNames } from '../../src/core/domain/runs.ts';
import { openMarket } from '../../src/core/trading/market.ts';
import { briefOf, playDay } from '../support/play-day.ts';
import { type LedgerDay, tradingDay } from '../support/trading-day.ts';

const SYMBOLS = ['AAPL', 'AMD', 'AMZN', 'COST', 'CSCO', 'META', 'MSFT', 'NVDA', 'PEP', 'TSLA'];
const FIRST = '2025-03-03';
const database = openDatabase(':memory:');
const days = Array.from({ length: 200 }, (_, index) => addDays(FIRST, index - 30));
for (const symbol of SYMBOLS)
  storeBars(database, syntheticBars(symbol, days, '2030-01-01'), { source: 'synthetic' });

/** A day as it begins: with cash only, or with the portfolio and the actions of another. */
const dayOf = (date: string, before?: LedgerDay): LedgerDay => ({
  ...tradingDay({
    universe: new Set(SYMBOLS),
    portfolio: before?.portfolio ?? { cash: fromDollars(10_000), holdings: new Map() },
    market: openMarket(latestPrices(database), date, SYMBOLS),
  }),
  actions: before?.actions ?? [],
});

/** Runs a simulated model over one day; returns the conversation. */
function trade(day: LedgerDay, signature: string, family = signature): Promise<ChatMessage[]> {
  const brief = briefOf(day);
  return playDay(day, brief, () => createSimulatedModel({ signature, family }, brief));
}

/** Twenty weekdays of one model; each day continues from the last. Played once. */
function tradeOn(signature: string, family = signature): ReturnType<typeof playOn> {
  const one = played.get(`${signature} ${family}`) ?? playOn(signature, family);
  played.set(`${signature} ${family}`, one);
  return one;
}
const played = new Map<string, ReturnType<typeof playOn>>();

async function playOn(signature: string, family: string) {
  const conversations: ChatMessage[][] = [];
  let day = dayOf(FIRST);
  for (let index = 0; index < 28; index += 1) {
    day = dayOf(addDays(FIRST, index), day);
    conversations.push(await trade(day, signature, family));
  }
  return { day, conversations };
}

/** A signature of each temperament. */
const signatures = temperaments.map(
  ({ name }) =>
    Array.from({ length: 100 }, (_, index) => `model-${index}`).find(
      (signature) => chooseTemperament(signature).name === name,
    ) as string,
);

for (const [index, { name }] of temperaments.entries()) {
  test(`a ${name} model really trades, and not like the others`, async () => {
    const { day, conversations } = await tradeOn(signatures[index] as string);
    assert.ok(day.actions.length > 0);
    const said = conversations.flat().filter(({ role }) => role === 'assistant');
    assert.ok(said.some(({ content }) => content.includes(name)));
    assert.ok(day.portfolio.cash >= 0);
  });
}

test('the default models have all temperaments between them', () => {
  const models = ['gpt-5', 'claude-sonnet-4.5', 'deepseek-v3.1', 'qwen3-max'];
  const names = new Set(models.map((signature) => chooseTemperament(signature).name));
  assert.equal(names.size, temperaments.length);
});

test('the same signature, date and portfolio give the same conversation; another of these another', async () => {
  const [one, again] = [await tradeOn('gpt-5'), await playOn('gpt-5', 'gpt-5')];
  const other = await tradeOn('gpt-6');
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
  const conversation = await trade(dayOf('2019-01-01'), signatures[0] as string);
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
  const failuresOf = async (name: string) => {
    let failures = 0;
    for (const date of days) {
      const brief = { ...briefOf(dayOf(FIRST)), date, quotes: [] };
      const model = createSimulatedModel({ signature: name, family: name }, brief);
      await model(firstMessages(brief)).catch(() => (failures += 1));
    }
    return failures;
  };
  const failures = await failuresOf('unreliable-model');
  assert.ok(failures > 3 && failures < 30, `${failures} of ${days.length}`);
  assert.equal(await failuresOf('reliable-model'), 0);
});
