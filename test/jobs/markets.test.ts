import assert from 'node:assert/strict';
import { test } from 'node:test';
import { weekdays } from '../../src/core/time/calendar.ts';
import { replayOf } from '../support/books.ts';
import { startTestService } from '../support/service.ts';
import { rowsAsText } from '../support/tables.ts';

/** Jobs in the Chinese market, with the service's own traders. */

const SYMBOLS = ['600519.SH', '601318.SH', '688981.SH', '300750.SZ', '430047.BJ'];
const DATES = weekdays('2025-11-03', '2025-11-14');
const [START = '', END = ''] = [DATES[0], DATES.at(-1)];
/** The first of them opens at its upper limit on one day, and at its lower one on another. */
const PRICES = SYMBOLS.flatMap((symbol, place) =>
  weekdays('2025-10-27', END).map((date, day) => {
    const close = 10 * (place + 1) + ((day * (place + 3)) % 7) / 10;
    const before = 10 * (place + 1) + (((day - 1) * (place + 3)) % 7) / 10;
    const jump = place > 0 ? 0 : day === 6 ? 0.12 : day === 10 ? -0.12 : 0;
    return `${symbol} ${date} ${(before * (1 + jump) + 0.03).toFixed(2)} ${close.toFixed(2)}`;
  }),
).join('\n');
const rules = ['buy-and-hold', 'equal-weight', 'momentum', 'random', 'cash'];
const models = [
  ...rules.map((rule) => ({ signature: rule, basemodel: `baseline/${rule}`, enabled: true })),
  { signature: 'gpt', repeats: 2, enabled: true },
];
const agent_config = {
  ...{ market: 'cn', stock_symbols: SYMBOLS, initial_cash: 100_000 },
  ...{ commission_bps: 2.5, min_commission: 5, sell_tax_bps: 5 },
};
const studies = { hidden: { open: 'hidden' }, american: { market: 'us' } };

test('baselines and simulated models keep to the rules of their market, and every day replays', async (t) => {
  const configuration = { models, agent_config, studies, agent_type: 'BaseAgentAStock_Hour' };
  const service = await startTestService(t, { configuration, prices: PRICES });
  const { database } = service;
  const days = { start_date: START, end_date: END };
  for (const study of [null, 'hidden']) {
    const job = await service.runJob({ ...days, study });
    assert.equal(job.status, 'completed');
    assert.deepEqual([job.terms.market.name, job.terms.market.currency], ['cn', 'CNY']);
    assert.deepEqual([job.terms.min_commission, job.terms.sell_tax_bps], [5, 5]);
    assert.match(job.warnings[0], /^"agent_type": "BaseAgentAStock_Hour" is for other programs/);
    assert.doesNotMatch(job.warnings.join(), /price limit/);
  }
  const trades = rowsAsText(
    database,
    `SELECT action_type, symbol, amount FROM positions WHERE action_type IN ('buy', 'sell')`,
  );
  assert.ok(trades.length > 20, `${trades.length}`);
  for (const trade of trades) {
    const [side, symbol, amount] = trade.split(' ');
    const [odd, isOfBeijing] = [Number(amount) % 100, symbol?.endsWith('.BJ')];
    assert.ok(odd === 0 || (isOfBeijing && (side === 'sell' || Number(amount) >= 100)), trade);
  }
  const refusals = rowsAsText(
    database,
    `SELECT DISTINCT detail FROM decisions JOIN trading_sessions USING (session_id)
     WHERE kind = 'refusal' AND model NOT LIKE 'gpt%' AND detail NOT LIKE '%enough %'`,
  );
  for (const refusal of refusals) assert.match(refusal, /opened at its (upper|lower) limit/);
  const { problems, unverifiable } = await replayOf(database);
  assert.deepEqual([problems, unverifiable], [[], []]);
  await showsCurrency(service.url);

  const american = await service.runJob({ ...days, study: 'american', models: ['cash'] });
  assert.equal(american.terms.market.name, 'us');
  const url = `${service.url}/performance?study=american`;
  const [report] = ((await (await fetch(url)).json()) as any).models; // any: a body is unchecked JSON
  assert.deepEqual([report.model, report.currency], ['cash@american', 'USD']);
});

/** What is said of money names the currency; the JSON of records is as it was. */
async function showsCurrency(url: string): Promise<void> {
  const json = async (path: string): Promise<any> => (await fetch(url + path)).json();
  const { models: reports } = await json('/performance');
  assert.deepEqual([...new Set(reports.map((one: any) => one.currency))], ['CNY']);
  const [record] = (await json(`/results?model=random&date=${START}`)).results;
  assert.equal('currency' in record, false);
  const { sessions } = await json(`/reasoning?model=random&date=${START}`);
  assert.equal(sessions[0].currency, 'CNY');
  const ofPerformance = ['curve', 'trades', 'actions', 'figures'].map(
    (table) => `/performance?table=${table}&by=entry`,
  );
  for (const path of [...ofPerformance, '/results?', '/decisions?', '/holdings?model=random']) {
    const lines = (await (await fetch(`${url}${path}&format=csv`)).text()).trim().split('\r\n');
    const place = lines[0]?.split(',').indexOf('currency') ?? -1;
    assert.ok(place > 0, path);
    const cells = lines.slice(1).map((line) => line.replace(/"[^"]*"/g, '').split(',')[place]);
    assert.deepEqual([...new Set(cells)], ['CNY'], path);
  }
}
