import { h } from '../element.ts';
import { count, counted, price } from '../format.ts';
import type { Decision } from '../responses.ts';
import { localTime } from '../ui.ts';
import { dayLink } from './conversation.ts';

/** A model-day with more orders than this shows them when it is unfolded. */
const MOST_ORDERS = 6;

/** Which model-day a decision belongs to. */
export function modelDayOf({ model, date, job_id: job }: Decision): string {
  return JSON.stringify([model, date, job]);
}

/**
 * What a model did on a day, in a line, and why, in its words; then its orders. The decisions are
 * those of one model-day, the last one first, as the response has them.
 */
export function decisionCard(lastFirst: readonly Decision[]): HTMLElement {
  const all = withReasons(lastFirst.toReversed());
  const last = all.at(-1);
  if (last === undefined) return h('li');
  const { model, date, timestamp } = last;
  const orders = all.filter(({ side }) => side !== null);
  const reasons = new Set(all.map(({ reason }) => reason));
  const listed = orders.length > 1 ? orders : [];
  const others = all.filter((one) => !listed.includes(one));
  const said = reasons.size === 1 ? reasons : new Set(others.map(({ reason }) => reason));
  return h(
    'li',
    h('p.did', dayLink(model, date), ...outcome(all), h('span.when.quiet', localTime(timestamp))),
    ...others.map(({ detail }) => detail !== null && h('p.detail', detail)),
    ...[...said].map((reason) => reason !== null && h('p.reason', reason)),
    listed.length > 0 && ordersOf(listed, reasons.size > 1),
  );
}

/**
 * Where the service found no words shortly before an order, those before the order above it are
 * still the last that the model said.
 */
function withReasons(decisions: readonly Decision[]): Decision[] {
  let last: string | null = null;
  return decisions.map((one) => {
    last = one.reason ?? last;
    return { ...one, reason: last };
  });
}

/** "Bought 52 symbols", "Sold 10 AAPL at 231.20", "2 orders refused". */
function outcome(all: readonly Decision[]): HTMLElement[] {
  const of = (kind: Decision['kind'], side: Decision['side'] = null) =>
    all.filter((one) => one.kind === kind && (side === null || one.side === side));
  const part = (own: readonly Decision[], words: (own: readonly Decision[]) => string) =>
    own[0] === undefined ? [] : h(`span.act.${own[0].kind}`, words(own));
  return [
    part(of('trade', 'buy'), (own) => `Bought ${traded(own)}`),
    part(of('trade', 'sell'), (own) => `Sold ${traded(own)}`),
    part(of('refusal'), refused),
    part(of('failure'), () => 'Failed'),
    part(of('no_trade'), () => 'No trade'),
  ].flat();
}

function traded(trades: readonly Decision[]): string {
  const symbols = new Set(trades.map(({ symbol }) => symbol));
  if (symbols.size > 1) return counted(symbols.size, 'symbol');
  const shares = trades.reduce((sum, { amount }) => sum + (amount ?? 0), 0);
  const how = trades.length > 1 ? `in ${trades.length} orders` : `at ${price(trades[0]?.price)}`;
  return `${count(shares)} ${[...symbols].join()} ${how}`;
}

function refused(orders: readonly Decision[]): string {
  const [{ side, amount, symbol } = {}, second] = orders;
  if (second !== undefined) return `${counted(orders.length, 'order')} refused`;
  return `Order refused: ${[side, amount != null && count(amount), symbol].filter(Boolean).join(' ')}`;
}

/** The orders, folded where they are many; with the reasons, where these differ. */
function ordersOf(orders: readonly Decision[], saysWhy: boolean): HTMLElement {
  const [first] = orders;
  if (first === undefined || orders.length <= MOST_ORDERS) return tableOf(orders, saysWhy);
  return h(
    'details.fold',
    { 'data-name': modelDayOf(first) },
    h('summary', `All ${counted(orders.length, 'order')}`),
    tableOf(orders, saysWhy),
  );
}

function tableOf(orders: readonly Decision[], saysWhy: boolean): HTMLElement {
  const titles = ['Order', 'Shares', 'Symbol', 'Price'].map((title, place) =>
    h(place % 2 === 0 ? 'th' : 'th.number', { scope: 'col' }, title),
  );
  const groups = [...Map.groupBy(orders, ({ reason }) => reason)].map(([reason, own]) =>
    h(
      'tbody',
      saysWhy &&
        reason !== null &&
        h('tr', h('th.reason', { scope: 'rowgroup', colspan: 4 }, reason)),
      ...own.flatMap(rowsOf),
    ),
  );
  const { model = '' } = orders[0] ?? {};
  return h(
    'table.orders',
    { 'aria-label': `Orders of ${model}` },
    h('thead', h('tr', ...titles)),
    ...groups,
  );
}

function rowsOf({ side, amount, symbol, price: paid, kind, detail }: Decision): HTMLElement[] {
  const isRefused = kind === 'refusal';
  const row = h(
    'tr',
    h(`td.action.${side}`, side === 'buy' ? 'Buy' : 'Sell'),
    h('td.number', count(amount)),
    h('td', symbol ?? ''),
    h('td.number', isRefused ? h('span.act.refusal', 'refused') : price(paid)),
  );
  return detail === null ? [row] : [row, h('tr', h('td.detail', { colspan: 4 }, detail))];
}
