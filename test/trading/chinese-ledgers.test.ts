import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { calls, says, startModelServer, whereIs } from '../support/model-server.ts';
import { startProdService } from '../support/prod.ts';

/**
 * Published ledgers of AI-Trader, whose models traded A shares once a day from 100,000 yuan, play
 * again by the rules of `cn`: a provider asks for the trades that they have.
 *
 * From public copies of the project (HKUDS/AI-Trader and its forks standyyyy, playmobil, niucool;
 * `data/agent_data_astock/MODEL/position/position.jsonl`): the orders of more than zero shares, and
 * the cash after each. `gpt-4.1-other` is a second run of that model. The opens, and the reference
 * prices of the exchange after a slash, are of its `daily_prices_sse_50.csv`.
 */

const read = (name: string) =>
  readFileSync(new URL(`../fixtures/ledgers/${name}.txt`, import.meta.url), 'utf8').trim();

interface Trade {
  date: string;
  side: string;
  symbol: string;
  amount: number;
  cash: number;
}

/** By model, in the order in which they were made. */
const ledgers = new Map(
  read('a-shares')
    .split('# ')
    .slice(1)
    .map((part) => {
      const [model = '', ...lines] = part.trim().split('\n');
      const trades = lines.map((line): Trade => {
        const [date = '', side = '', symbol = '', amount, cash] = line.split(' ');
        return { date, side, symbol, amount: Number(amount), cash: Number(cash) };
      });
      return [model, trades] as const;
    }),
);

const [header = '', ...series] = read('a-share-opens').split('\n');
const dates = header.split(' ').slice(1);
const symbols = series.map((line) => line.split(' ')[0] ?? '');
/** The day before the first. */
const EVE = '2025-09-30';

/** Bars as `SYMBOL DATE OPEN CLOSE`; each close is the reference price of the day after it. */
function barsText(): string {
  const bars = series.flatMap((line) => {
    const [symbol, ...cells] = line.split(' ');
    const prices = cells.map((cell) => cell.split('/'));
    const first = prices[0]?.[1];
    const days = prices.map(
      ([open], day) => `${symbol} ${dates[day]} ${open} ${prices[day + 1]?.[1] ?? open}`,
    );
    return [`${symbol} ${EVE} ${first} ${first}`, ...days];
  });
  return bars.join('\n');
}

/** What is held after some trades, by symbol. */
function heldAfter(trades: readonly Trade[]): string {
  const held = new Map<string, number>();
  for (const { side, symbol, amount } of trades)
    held.set(symbol, (held.get(symbol) ?? 0) + (side === 'buy' ? amount : -amount));
  const kept = [...held].filter(([, amount]) => amount !== 0).sort();
  return kept.map(([symbol, amount]) => `${symbol} ${amount}`).join(', ');
}

test('ledgers of A shares play again: every trade is accepted, all cash and holdings are equal', async (t) => {
  const provider = await startModelServer(t, (request) => {
    const { date, step } = whereIs(request);
    const trades =
      ledgers.get(request.body.model.replace('test/', ''))?.filter((own) => own.date === date) ??
      [];
    return step > 1 || trades.length === 0
      ? says('done')
      : calls(
          ...trades.map(({ side, symbol, amount }): [string, unknown] => [
            side,
            { symbol, amount },
          ]),
        );
  });
  const service = await startProdService(t, {
    prices: barsText(),
    models: [...ledgers.keys()].map((model) => ({ signature: model, basemodel: `test/${model}` })),
    agentConfig: { market: 'cn', initial_cash: 100_000, stock_symbols: symbols },
    settings: {
      openaiApiBase: provider.baseUrl,
      openaiApiKey: 'key',
      maxSimulationDays: dates.length * 2,
    },
  });
  const job = await service.runJob({ start_date: dates[0], end_date: dates.at(-1) });
  assert.equal(job.status, 'completed', JSON.stringify(job));
  let count = 0;
  for (const [model, trades] of ledgers) {
    const played = service.database
      .statement(
        `SELECT date, action_type AS side, symbol, amount, cash_e4 / 10000.0 AS cash
         FROM positions JOIN trading_sessions USING (session_id)
         WHERE model = ? AND action_type <> 'no_trade' ORDER BY date, action_id`,
      )
      .all(model);
    assert.deepEqual(
      played.map((row) => ({ ...row })),
      trades,
      model,
    );
    const held = service.database
      .statement(
        `SELECT symbol, quantity FROM holdings JOIN trading_sessions USING (session_id)
         WHERE model = ? AND date = ? ORDER BY symbol`,
      )
      .all(model, dates.at(-1) ?? '');
    const last = held.map((row) => `${row['symbol']} ${row['quantity']}`).join(', ');
    assert.equal(last, heldAfter(trades), model);
    count += trades.length;
  }
  assert.equal(count, 503);
});
