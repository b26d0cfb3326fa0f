// An agent that reads prices and trades through the tools of the day. It buys the symbol that rose most.
// Run: npx node momentum.mts 9000

import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';

const server = createServer(async (request, response) => {
  const { day, universe, portfolio }: any = await json(request);
  const tool = async (name: string, args: object): Promise<any> => {
    const headers = { authorization: `Bearer ${day.token}`, 'content-type': 'application/json' };
    const body = JSON.stringify(args);
    return (await fetch(`${day.url}/day/tools/${name}`, { method: 'POST', headers, body })).json();
  };
  let best = { symbol: '', growth: 0 };
  for (const symbol of universe) {
    const { bars = [] } = await tool('get_price_history', { symbol, days: 6 });
    const closes = bars.flatMap((bar: any) => bar.close ?? []);
    const growth = closes.at(-1) / closes[0] - 1;
    if (growth > best.growth) best = { symbol, growth };
  }
  for (const { symbol, quantity } of portfolio.holdings)
    if (symbol !== best.symbol) await tool('sell', { symbol, amount: quantity });
  const weights = best.symbol === '' ? {} : { [best.symbol]: 0.5 };
  await tool('rebalance', { weights });
  const reason = `${best.symbol || 'Nothing'} rose most over the last days.`;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ done: true, reason }));
});
server.listen(Number(process.argv[2]), '127.0.0.1', () => console.log((server.address() as any).port));
