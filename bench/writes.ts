import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addDays } from '../src/calendar.ts';
import { type HeldProvider, type HeldRequest, startHeldProvider } from './held-provider.ts';
import { LARGE, SYMBOLS, datesOf, folderToWrite, positionsOf } from './large-database.ts';
import {
  type BenchOptions,
  type Measurement,
  PROGRAM,
  type Server,
  run,
  triggerJob,
  untilStatus,
} from './support.ts';
import { endAfter } from './time-limit.ts';
import { startWatched } from './watched.ts';
import { measureWatched } from './watched-figure.ts';

/**
 * Writes to a database of ten million positions, as a job makes the service write: a split and a
 * dividend that the price provider names, and the commit of a model-day with many trades. Measures
 * how long each holds up other requests. The provider and the model are the bench itself, so that a
 * round begins with the last response before the write.
 */

const ROUNDS = { minPairs: 6, maxPairs: 10, maxMs: 60_000 };
/** The bench ends by itself after this time. Making and copying the database does not count. */
const MAX_MS = 9 * 60_000;

/**
 * All models hold both. One has paid a dividend every quarter, each of which a split may change;
 * the other has paid none.
 */
const [PAYER = '', NON_PAYER = ''] = SYMBOLS;
const DAYS_PER_QUARTER = 62;
/** It has no prices, so that after splits and dividends the service asks for those of a date. */
const UNPRICED = 'NOBARS';
const TRADED = [101, 300, 1_000];
const ORDERS_PER_ANSWER = 100;
const PRICE = 10;
/** Each commit is that of another model, which has traded nothing before. */
const WRITERS = Array.from(
  { length: TRADED.length * ROUNDS.maxPairs },
  (_none, index) => `writer-${index}`,
);

const PATHS = {
  splits: '/stocks/v1/splits',
  dividends: '/stocks/v1/dividends',
  bars: '/v2/aggs/',
  answer: '/v1/chat/completions',
};

const dates = datesOf(LARGE);
/**
 * On the mornings of every second date all models hold all symbols. The latest first: for them the
 * service looks at the most sessions.
 */
const mornings = dates
  .filter((_date, index) => index % 2 === 1)
  .reverse()
  .values();
const tradedOn = addDays(dates.at(-1) ?? '', 7);

export async function* measureWrites(options: BenchOptions): AsyncGenerator<Measurement> {
  const folder = folderToWrite(LARGE);
  await importPrices(folder);
  const limit = endAfter(MAX_MS, 'writes');
  const provider = await startHeldProvider();
  const watched = await startWatched(folder, options, {
    models: WRITERS,
    entry: { openai_base_url: `${provider.url}/v1` },
    configuration: {
      agent_config: { initial_cash: 1_000_000, stock_symbols: [...SYMBOLS, UNPRICED] },
      universes: Object.fromEntries(TRADED.map((count) => [count, symbolsTo(count)])),
    },
    env: {
      DEPLOYMENT_MODE: 'PROD',
      MASSIVE_API_KEY: 'bench',
      MASSIVE_BASE_URL: provider.url,
      PRICE_HISTORY_DAYS: '0',
    },
  });
  const beside = `beside ${positionsOf(LARGE).toLocaleString('en-US')} positions`;
  for (const { what, ...round } of [
    ...actionRounds(watched.server, provider),
    ...commitRounds(watched.server, provider),
  ])
    yield await measureWatched(`${what} ${beside}`, watched, {
      ...round,
      bounds: ROUNDS,
      ...options,
    });
  clearTimeout(limit);
  await watched.stop();
  provider.stop();
}

/**
 * What is measured, round by round: what comes before the write, the write, and what comes after
 * it.
 */
interface Write {
  what: string;
  before(): Promise<void>;
  work(): Promise<void>;
  after(): Promise<void>;
}

/**
 * Each round is a job of a date of its own, which is cancelled when the service has stored the
 * split or the dividend.
 */
function actionRounds(server: Server, provider: HeldProvider): Write[] {
  const splits: object[] = []; // the provider names them again and again: one that it does not name is removed
  let [date, jobId] = ['', ''];
  let held: HeldRequest;
  const begin = async () => {
    date = mornings.next().value ?? '';
    jobId = await triggerJob(server, { start_date: date, end_date: date, models: [WRITERS[0]] });
    held = await provider.next(PATHS.splits);
  };
  const after = async () => {
    await fetch(`${server.url}/simulate/cancel/${jobId}`, { method: 'POST' });
    await untilStatus(`${server.url}/simulate/status/${jobId}`);
  };
  const splitOf = (ticker: string, which: string): Write => ({
    what: `storing a split of a symbol that all models hold, ${which}`,
    before: begin,
    async work() {
      splits.push({ ticker, execution_date: date, split_from: 1, split_to: 2 });
      held.answer(listOf(splits));
      held = await provider.next(PATHS.dividends);
    },
    after,
  });
  const dividend: Write = {
    what: 'storing a dividend of a symbol that all models hold',
    async before() {
      await begin();
      held.answer(listOf(splits));
      held = await provider.next(PATHS.dividends);
    },
    async work() {
      held.answer(
        listOf([{ ticker: PAYER, ex_dividend_date: date, cash_amount: 0.25, currency: 'USD' }]),
      );
      held = await provider.next(PATHS.bars);
    },
    after,
  };
  return [
    splitOf(NON_PAYER, 'without dividends'),
    splitOf(PAYER, `with ${quarters().length} dividends`),
    dividend,
  ];
}

/**
 * Each round is a model-day of its own that buys every symbol of its universe; the model's last
 * answer ends it.
 */
function commitRounds(server: Server, provider: HeldProvider): Write[] {
  const writers = WRITERS.values();
  return TRADED.map((count): Write => {
    let statusUrl = '';
    let held: HeldRequest;
    return {
      what: `the commit of a model-day that traded ${count.toLocaleString('en-US')} symbols`,
      async before() {
        const models = [writers.next().value ?? ''];
        const jobId = await triggerJob(server, {
          start_date: tradedOn,
          end_date: tradedOn,
          models,
          universe: String(count),
        });
        statusUrl = `${server.url}/simulate/status/${jobId}`;
        held = await firstOfModel(provider);
        for (const symbols of chunksOf(symbolsTo(count))) {
          held.answer(answerWith(symbols));
          held = await provider.next(PATHS.answer);
        }
        const orders = ordersIn(held);
        if (orders !== count) throw new Error(`${orders} of ${count} orders were executed`);
      },
      async work() {
        held.answer(answerWith([]));
        const { status } = await untilStatus(statusUrl);
        if (status !== 'completed') throw new Error(`The job is ${status}`);
      },
      after: async () => {},
    };
  });
}

/** The first request to the model; until then the provider has neither splits nor dividends. */
async function firstOfModel(provider: HeldProvider): Promise<HeldRequest> {
  for (;;) {
    const held = await provider.next();
    if (held.path.startsWith(PATHS.answer)) return held;
    held.answer(listOf([]));
  }
}

function listOf(results: readonly object[]): object {
  return { status: 'OK', results: results.map((result, index) => ({ id: `${index}`, ...result })) };
}

/** An answer that buys a share of each symbol; without symbols it ends the day. */
function answerWith(symbols: readonly string[]): object {
  const calls = symbols.map((symbol) => {
    return {
      id: `call_${symbol}`,
      type: 'function',
      function: { name: 'buy', arguments: JSON.stringify({ symbol, amount: 1 }) },
    };
  });
  const message =
    calls.length > 0
      ? { role: 'assistant', content: null, tool_calls: calls }
      : { role: 'assistant', content: 'I bought all.' };
  const usage = { prompt_tokens: 3_000, completion_tokens: 50 };
  return { choices: [{ index: 0, message, finish_reason: 'stop' }], usage };
}

/** How many orders have been executed, as the model's next request tells it. */
function ordersIn({ text }: HeldRequest): number {
  const { messages } = JSON.parse(text) as { messages: { role: string; content: string | null }[] };
  return messages.filter(({ role, content }) => role === 'tool' && !content?.includes('"error"'))
    .length;
}

function chunksOf(symbols: readonly string[]): string[][] {
  const count = Math.ceil(symbols.length / ORDERS_PER_ANSWER);
  return Array.from({ length: count }, (_none, index) =>
    symbols.slice(index * ORDERS_PER_ANSWER, (index + 1) * ORDERS_PER_ANSWER),
  );
}

function symbolsTo(count: number): string[] {
  return Array.from({ length: count }, (_none, index) => `S${index}`);
}

/** Prices of all symbols that are traded, and the dividends of one that is held. */
async function importPrices(folder: string): Promise<void> {
  const bars = symbolsTo(Math.max(...TRADED)).map(
    (symbol) => `${symbol},${tradedOn},${PRICE},${PRICE},${PRICE},${PRICE},1000`,
  );
  writeFileSync(
    join(folder, 'prices.csv'),
    ['symbol,date,open,high,low,close,volume', ...bars].join('\n'),
  );
  const dividends = quarters().map((date) => `${PAYER},${date},0.25`);
  writeFileSync(join(folder, 'dividends.csv'), ['symbol,ex_date,amount', ...dividends].join('\n'));
  await run(
    process.execPath,
    [PROGRAM, 'import-prices', '--as', 'raw', 'prices.csv', 'dividends.csv'],
    { cwd: folder },
  );
}

/** Mornings on which all models hold all symbols, a quarter apart. */
function quarters(): string[] {
  return dates.filter((_date, index) => index % DAYS_PER_QUARTER === 1);
}
