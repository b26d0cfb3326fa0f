/**
 * What a response must satisfy in itself, whatever the service did while it was made: its parts add
 * up to its totals, its lists are whole and in order, and a page of CSV says what its JSON says.
 */

type Json = any;

/** Figures are rounded to ten decimals, and multiplied over some hundred days. */
const FIGURE = 1e-7;
/** Amounts are whole multiples of 1/10000 dollar. */
const CENTS = 1e-4;
const ENDED = ['completed', 'partial', 'failed', 'cancelled', 'discarded'];

const checks: Record<string, (body: Json, query: URLSearchParams) => Iterable<string>> = {
  '/jobs': jobs,
  '/simulate/status/': status,
  '/results': results,
  '/reasoning': reasoning,
  '/performance': performance,
  '/holdings': holdings,
  '/comparison': comparison,
  '/decisions': decisions,
  '/search': search,
  '/models': models,
  '/prices/coverage': coverage,
  '/audit': audit,
  '/health': function* ({ status: state }) {
    if (state !== 'healthy') yield `the service is ${state}`;
  },
};

/** A sentence for each way in which the JSON of a request contradicts itself. */
export function contradictions(path: string, body: Json): string[] {
  const { pathname, searchParams } = new URL(path, 'http://localhost');
  const check = checks[pathname] ?? checks[pathname.replace(/[^/]+$/, '')];
  if (check === undefined) throw new Error(`No check for ${path}`);
  return [...check(body, searchParams)].map((sentence) => `GET ${path}: ${sentence}`);
}

const near = (one: number, other: number, within: number) =>
  Math.abs(one - other) <= within * Math.max(1, Math.abs(other) / 1000);
const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
const compounded = (returns: readonly number[]) => returns.reduce((all, one) => all * (1 + one), 1);
/** The texts in ascending order, each once. */
const isRising = (texts: readonly string[]) =>
  texts.every((text, index) => index === 0 || (texts[index - 1] as string) < text);

function* counted(list: readonly unknown[], count: number): Iterable<string> {
  if (list.length !== count) yield `count is ${count}, and there are ${list.length}`;
}

function* unique(
  list: readonly Json[],
  what: string,
  keyOf: (one: Json) => unknown = (one) => one,
): Iterable<string> {
  if (new Set(list.map(keyOf)).size !== list.length) yield `${what} is there twice`;
}

function* oneJob(job: Json): Iterable<string> {
  const { status: state, completed_at: end, started_at: start, progress } = job;
  const { total_model_days: total, completed, failed, pending } = progress;
  const name = `job ${job.job_id} (${state})`;
  if (total !== completed + failed + pending)
    yield `${name}: ${total} model-days, of which ${completed} + ${failed} + ${pending}`;
  if (ENDED.includes(state) !== (end !== null)) yield `${name} ended at ${end}`;
  if (end !== null && start > end) yield `${name} ended before it started`;
  if (state === 'completed' && failed > 0) yield `${name} has ${failed} failed model-days`;
}

function* jobs({ jobs: list, count, next_before: next }: Json): Iterable<string> {
  yield* counted(list, count);
  for (const job of list) {
    yield* oneJob(job);
    const { most_frequent_error: most, progress } = job;
    if (most === null ? progress.failed > 0 : !(most.model_days <= progress.failed))
      yield `${job.job_id}: ${progress.failed} failed, of which ${most?.model_days} alike`;
  }
  yield* unique(list, 'a job', (job) => job.job_id);
  const times = list.map((job: Json) => job.created_at);
  if (times.some((time: string, index: number) => index > 0 && time > times[index - 1]))
    yield 'jobs are not the newest first';
  if (list.filter((job: Json) => !ENDED.includes(job.status)).length > 1)
    yield 'two jobs are unfinished';
  if (next !== null && next !== list.at(-1)?.job_id) yield `next_before is ${next}`;
}

function* status(job: Json): Iterable<string> {
  yield* oneJob(job);
  const { details, progress, usage } = job;
  const having = (state: string) => details.filter((day: Json) => day.status === state).length;
  if (details.length !== progress.total_model_days)
    yield `${progress.total_model_days} model-days, and ${details.length} details`;
  // A skipped model-day counts as completed: there is nothing left to do for it.
  const cancelled = details.filter((day: Json) => day.error === 'Cancelled').length;
  const done = having('completed') + having('skipped') - cancelled;
  if (done !== progress.completed) yield `${progress.completed} completed, ${done} in the details`;
  if (having('skipped') - cancelled !== progress.skipped)
    yield `${progress.skipped} skipped, and ${having('skipped') - cancelled} in the details`;
  if (having('failed') !== progress.failed)
    yield `${progress.failed} failed, and ${having('failed')} in the details`;
  if (ENDED.includes(job.status) && having('pending') + having('running') > 0)
    yield 'an ended job has unfinished model-days';
  if (job.status === 'pending' && details.length !== having('pending'))
    yield 'a pending job has model-days that have begun';
  yield* unique(details, 'a model-day', (day) => `${day.date} ${day.model}`);
  for (const { model, date, status: state, started_at, completed_at } of details) {
    const isOver = state === 'completed' || state === 'failed';
    if (isOver && completed_at === null) yield `${model} ${date} is ${state} without an end`;
    if (state === 'running' && (started_at === null || completed_at !== null))
      yield `${model} ${date} is running from ${started_at} to ${completed_at}`;
  }
  const costs = sum(details.map((day: Json) => day.cost_usd ?? 0));
  if (!near(usage.cost_usd ?? 0, costs, CENTS)) yield `cost ${usage.cost_usd}, details ${costs}`;
}

function* results({ results: records, count }: Json): Iterable<string> {
  yield* counted(records, count);
  yield* unique(records, 'a position', (record) => record.id);
  const days = [...Map.groupBy(records, (one: Json) => `${one.date} ${one.model}`)] as Json[];
  const keys = records.map((one: Json) => `${one.date} ${one.model}`);
  if (
    days.length !==
      1 +
        keys.filter((key: string, index: number) => index > 0 && key !== keys[index - 1]).length &&
    records.length > 0
  )
    yield 'the positions of a model-day do not follow each other';
  for (const [day, own] of days) {
    yield* oneDay(day, own);
    if (new Set(own.map((one: Json) => one.job_id)).size > 1) yield `${day} is of two jobs`;
    const starts = own.map((one: Json) => one.portfolio_value - one.daily_profit);
    if (starts.some((start: number) => !near(start, starts[0], CENTS)))
      yield `${day} starts from ${starts.join(' and ')}`;
    for (const { action_id: id, daily_profit: profit, daily_return_pct: pct } of own)
      if (pct !== null && !near(pct, (100 * profit) / starts[0], CENTS))
        yield `${day}, action ${id}: a profit of ${profit} is ${pct} %`;
    for (const [index, one] of own.entries())
      if (index > 0) yield* heldAfter(day, own[index - 1], one);
  }
}

/** Action after action, each from the cash that the one before it left, without trading costs. */
function* oneDay(day: string, positions: readonly Json[], opening?: number): Iterable<string> {
  const ids = positions.map(({ action_id: id }) => id);
  if (ids.some((id, index) => id !== index + 1)) yield `${day} has the actions ${ids.join(', ')}`;
  const signs: Record<string, number> = { buy: -1, sell: 1, dividend: 1 };
  let cash = opening;
  for (const one of positions) {
    const after = one.cash_after ?? one.cash;
    const sign = signs[one.action_type] ?? 0;
    if (
      cash !== undefined &&
      !near(after, cash + sign * (one.amount ?? 0) * (one.price ?? 0), CENTS)
    )
      yield `${day}, action ${one.action_id}: cash is ${after} after ${cash}`;
    cash = after;
  }
}

function* heldAfter(day: string, before: Json, after: Json): Iterable<string> {
  const held = new Map(before.holdings.map((one: Json) => [one.symbol, one.quantity]));
  const { action_type: type, symbol, amount } = after;
  if (type !== 'buy' && type !== 'sell') return;
  const quantity = ((held.get(symbol) as number) ?? 0) + (type === 'buy' ? amount : -amount);
  if (quantity === 0) held.delete(symbol);
  else held.set(symbol, quantity);
  const words = (entries: Iterable<Json>) => [...entries].map(String).sort().join(' ');
  const found = words(after.holdings.map((one: Json) => [one.symbol, one.quantity]));
  if (found !== words(held)) yield `${day}, action ${after.action_id}: holdings are ${found}`;
}

function* reasoning({ sessions, count }: Json): Iterable<string> {
  yield* counted(sessions, count);
  // A session that failed or was cancelled has ended too: without a summary, beside its next attempt.
  const isCommitted = (one: Json) => one.completed_at !== null && one.session_summary !== null;
  const days = sessions.filter(isCommitted).map((one: Json) => `${one.date} ${one.model}`);
  yield* unique(days, 'a completed model-day');
  for (const one of sessions) {
    const { date, positions, conversation, total_messages: total } = one;
    const day = `${date} ${one.model}`;
    if (isCommitted(one) && positions.length === 0) yield `${day} is completed, without positions`;
    if (!isCommitted(one) && positions.length > 0) yield `${day} is not completed, with positions`;
    yield* oneDay(day, positions, one.opening?.cash);
    if (one.previous_date !== null && one.previous_date >= date) yield `${day} follows itself`;
    if (one.next_date !== null && one.next_date <= date) yield `${day} precedes itself`;
    if (!conversation) continue;
    if (isCommitted(one) && one.usage !== null && one.usage.error !== null)
      yield `${day} is completed, with the error ${one.usage.error}`;
    if (conversation.length !== total)
      yield `${day}: ${total} messages, and ${conversation.length} in the conversation`;
    if (conversation.some((message: Json, index: number) => message.message_index !== index))
      yield `${day}: messages are missing or out of order`;
    const isOrder = (name: string) => name === 'buy' || name === 'sell';
    const executed = conversation.filter(
      ({ tool_name: tool, content }: Json) => isOrder(tool) && content.startsWith('{"executed"'),
    ).length;
    const orders = positions.filter((position: Json) => isOrder(position.action_type)).length;
    if (isCommitted(one) && executed !== orders)
      yield `${day}: ${executed} orders in the conversation, ${orders} in the positions`;
  }
}

function* performance(body: Json, query: URLSearchParams): Iterable<string> {
  yield* counted(body.models, body.count);
  const isWhole = ['start_date', 'end_date', 'job_id', 'days', 'common'].every(
    (key) => !query.has(key),
  );
  for (const model of body.models) yield* oneModel(model, { isWhole });
  const byName = new Map<string, Json>(body.models.map((model: Json) => [model.model, model]));
  for (const { family, runs, mean_total_return: mean, ...range } of body.families) {
    for (const run of runs) {
      const own = byName.get(run.model);
      if (own?.total_return !== run.total_return || own?.model_days !== run.model_days)
        yield `family ${family} has ${run.model} with ${run.model_days} days, ${run.total_return}`;
    }
    const returns: number[] = runs.flatMap((run: Json) => run.total_return ?? []);
    if (returns.length !== runs.length) continue;
    const growth = compounded(returns) ** (1 / returns.length);
    if (mean !== null && !near(mean, growth - 1, FIGURE))
      yield `family ${family} has a mean of ${mean}`;
    if (range.lowest_total_return !== null && range.lowest_total_return !== Math.min(...returns))
      yield `family ${family} has a lowest return of ${range.lowest_total_return}`;
  }
  const { name, days, curve, total_return: total } = body.benchmark;
  if (days !== curve.length) yield `benchmark ${name}: ${days} days, and ${curve.length} points`;
  yield* returnsOf(`benchmark ${name}`, curve, total);
}

function* returnsOf(name: string, curve: readonly Json[], total: number | null): Iterable<string> {
  const product = compounded(curve.map((point) => point.daily_return ?? 0)) - 1;
  if (total !== null && !near(product, total, FIGURE))
    yield `${name}: its days make ${product}, and total_return is ${total}`;
  if (!isRising(curve.map(({ date }) => date))) yield `${name}: its days are not in order`;
}

function* oneModel(model: Json, { isWhole }: { isWhole: boolean }): Iterable<string> {
  const { model: name, curve, details, trading, profit } = model;
  if (model.model_days !== curve.length)
    yield `${name}: ${model.model_days} model-days, and ${curve.length} points`;
  yield* returnsOf(name, curve, model.total_return);
  const stale = curve.filter((point: Json) => point.stale).length;
  if (stale !== model.stale_model_days)
    yield `${name}: ${model.stale_model_days} stale, not ${stale}`;
  let [growth, peak] = [1, 1];
  for (const point of curve) {
    growth *= 1 + (point.daily_return ?? 0);
    peak = Math.max(peak, growth);
    if (!near(point.growth, growth, FIGURE) || !near(point.drawdown, 1 - growth / peak, FIGURE))
      yield `${name} ${point.date}: growth ${point.growth} and drawdown ${point.drawdown}`;
  }
  if (!near(sum(curve.map((point: Json) => point.dividends)), model.dividends, CENTS))
    yield `${name}: dividends of ${model.dividends} are not those of its days`;
  // A profit is that of its days; the value moves between these too, where some are missing.
  if (isWhole && stale === 0 && !near(model.end_value - model.start_value, profit, CENTS))
    yield `${name}: from ${model.start_value} to ${model.end_value} is not ${profit}`;
  if (curve.at(-1)?.value !== model.end_value || curve.at(-1)?.date !== model.end_date)
    yield `${name}: its last day is not its end`;
  const made = trading.realised_profit + trading.unrealised_profit;
  const isKnown = trading.realised_profit !== null && trading.unrealised_profit !== null;
  if (isWhole && isKnown && stale === 0 && !near(made + model.dividends, profit, CENTS))
    yield `${name}: a profit of ${profit}, and ${made} realised and unrealised`;
  if (details !== null) yield* detailsOf(model);
}

function* detailsOf({
  model: name,
  curve,
  total_return: total,
  details,
  trading,
}: Json): Iterable<string> {
  for (const spans of [details.months, details.years]) {
    if (sum(spans.map((span: Json) => span.days)) > curve.length)
      yield `${name}: spans have too many days`;
    const returns = spans.map((span: Json) => span.return);
    if (
      total !== null &&
      returns.every(Number.isFinite) &&
      !near(compounded(returns) - 1, total, FIGURE)
    )
      yield `${name}: its months or years make ${compounded(returns) - 1}, and total_return is ${total}`;
  }
  const trades = sum(details.symbols.map((symbol: Json) => symbol.trades));
  if (trades !== trading.trades) yield `${name}: ${trading.trades} trades, and ${trades} by symbol`;
}

function* holdings({ days, count, symbols }: Json): Iterable<string> {
  yield* counted(days, count);
  if (!isRising(days.map(({ date }: Json) => date))) yield 'the days are not in order';
  for (const { date, cash, value, cash_weight: rest, holdings: held } of days) {
    const worth = cash + sum(held.map((one: Json) => one.value));
    if (!near(worth, value, CENTS)) yield `${date}: holdings and cash are ${worth}, not ${value}`;
    const weights = rest + sum(held.map((one: Json) => one.weight));
    if (value > 0 && !near(weights, 1, FIGURE)) yield `${date}: the weights add up to ${weights}`;
    for (const { symbol, quantity, price, value: own } of held)
      if (!near(quantity * price, own, CENTS)) yield `${date}: ${quantity} ${symbol} are ${own}`;
    yield* unique(held, `${date}: a symbol`, (one) => one.symbol);
  }
  for (const { symbol, days: number, first_date: first, last_date: last } of symbols) {
    const dates = days
      .filter((day: Json) => day.holdings.some((one: Json) => one.symbol === symbol))
      .map((day: Json) => day.date);
    if (dates.length !== number || dates[0] !== first || dates.at(-1) !== last)
      yield `${symbol}: ${number} days from ${first} to ${last}, and ${dates.length} in the list`;
  }
}

function* comparison(body: Json, query: URLSearchParams): Iterable<string> {
  const names = body.models.map(({ model }: Json) => model);
  yield* unique(names, 'a model');
  const pairs = (names.length * (names.length - 1)) / 2;
  if (!query.get('against') && body.pairs.length !== pairs)
    yield `${names.length} models, and ${body.pairs.length} pairs`;
  for (const { model, runs, run_returns: returns, total_return: total, interval } of body.models) {
    if (runs.length !== returns.length) yield `${model}: ${returns.length} returns of its runs`;
    if (interval !== null && !(interval.low <= total && total <= interval.high))
      yield `${model}: ${total} is outside its interval`;
  }
  for (const { model, against, difference, interval, shown, curve, ...pair } of body.pairs) {
    const name = `${model} and ${against}`;
    if (!names.includes(model) || !names.includes(against))
      yield `${name} are not among the models`;
    if (interval !== null && !(interval.low <= difference && difference <= interval.high))
      yield `${name}: ${difference} is outside its interval`;
    if (pair.p_value_holm !== null && pair.p_value_holm < pair.p_value)
      yield `${name}: the corrected p-value is smaller`;
    if (shown && difference === null) yield `${name}: shown without a difference`;
    if (curve?.length > 0 && curve.length !== body.days)
      yield `${name}: ${body.days} days, and ${curve.length} points`;
  }
  const { answer } = body;
  const returns = body.models.flatMap(({ total_return: own }: Json) => own ?? []);
  if (answer.total_return !== (returns.length === 0 ? null : Math.max(...returns)))
    yield `${answer.leader} made ${answer.total_return}, which is not the highest return`;
  if (answer.days !== body.days) yield `${body.days} days, and ${answer.days} in the answer`;
  if (
    answer.interval !== null &&
    !(answer.interval.low <= answer.lead && answer.lead <= answer.interval.high)
  )
    yield `the lead ${answer.lead} is outside its interval`;
  const { model: leader } = body.leader;
  if (leader !== null && !names.includes(leader)) yield `the leader ${leader} is not a model`;
}

/** By date, the newest first, then by model. */
const isFeed = (items: readonly Json[]) =>
  items.every(({ date, model }, index) => {
    const { date: before, model: other } = items[index - 1] ?? {};
    return index === 0 || date < before || (date === before && model >= other);
  });

function* decisions(body: Json, query: URLSearchParams): Iterable<string> {
  const list: Json[] = body.decisions;
  yield* counted(list, body.count);
  yield* unique(list, 'a decision', ({ id }) => id);
  if (!isFeed(list)) yield 'decisions are out of order';
  for (const key of ['kind', 'symbol', 'model', 'job_id'])
    if (query.get(key) && list.some((one) => one[key] !== query.get(key)))
      yield `a decision of another ${key}`;
  const days = Map.groupBy(list, ({ date, model }) => `${date} ${model}`);
  for (const [day, own] of days) {
    const kinds = new Set(own.map(({ kind }) => kind));
    if (kinds.has('no_trade') && kinds.has('trade')) yield `${day} has trades and none`;
    const sessions = own.flatMap(({ kind, session_id: id }) => (kind === 'failure' ? [] : id));
    if (new Set(sessions).size > 1) yield `${day} is of two sessions`;
  }
  if (body.next_before !== null && body.next_before !== list.at(-1)?.id)
    yield `next_before is ${body.next_before}`;
}

function* search({ messages, count }: Json): Iterable<string> {
  yield* counted(messages, count);
  yield* unique(messages, 'a message', (one) => `${one.session_id} ${one.message_index}`);
  for (const { session_id: session, message_index: place, excerpt, matches } of messages)
    if (matches.some(([start, length]: number[]) => start! + length! > [...excerpt].length))
      yield `session ${session}, message ${place}: a match is outside its excerpt`;
}

function* models({ models: list, count }: Json): Iterable<string> {
  yield* counted(list, count);
  yield* unique(list, 'a model', (one) => one.signature);
  for (const one of list) {
    const { signature: name, completed_model_days: days } = one;
    const [first, last] = [one.first_completed_date, one.last_completed_date];
    for (const value of [first, last, one.portfolio_value])
      if ((value === null) !== (days === 0)) yield `${name}: ${days} completed days, and ${value}`;
    if (first > last || (days > 1 && first === last)) yield `${name}: from ${first} to ${last}`;
    if (one.last_job === null && days > 0) yield `${name}: ${days} days of no job`;
  }
}

function* coverage({ symbols, count }: Json): Iterable<string> {
  yield* counted(symbols, count);
  if (!isRising(symbols.map((one: Json) => one.symbol))) yield 'the symbols are not in order';
  for (const one of symbols) {
    const { symbol, first_bar: first, last_bar: last, bars, spans, gaps } = one;
    if ((first === null) !== (last === null) || first > last)
      yield `${symbol}: ${first} to ${last}`;
    if (bars !== null && (bars === 0) !== (first === null)) yield `${symbol}: ${bars} bars`;
    const within = (date: string, span: Json) => span.start_date <= date && date <= span.end_date;
    for (const gap of gaps)
      if (spans.some((span: Json) => within(gap.start_date, span) || within(gap.end_date, span)))
        yield `${symbol}: a gap from ${gap.start_date} is covered`;
  }
}

function* audit(body: Json): Iterable<string> {
  const { damage, problems, unverifiable, counts } = body;
  for (const [name, list] of Object.entries({ damage, problems, unverifiable }) as Json[])
    if (list.length > 0 || counts[name] > 0) yield `${name}: ${JSON.stringify(list).slice(0, 500)}`;
  if (body.status !== 'sound') yield `the books are ${body.status}`;
}
