import { gzipSync } from 'node:zlib';
import { type CalendarDate, weekdays } from '../../src/core/time/calendar.ts';
import type { Side } from './side.ts';

/**
 * The files of the story: configurations, and prices in the forms that the service takes, with rows
 * that it refuses.
 */

/** No price has this date: a holiday. */
const HOLIDAY = '2025-09-01';
const SPLIT = '2025-09-10';
const SYMBOLS: Record<string, number> = {
  AAPL: 200,
  MSFT: 400,
  KO: 60,
  QQQ: 500,
  NVDA: 170,
  AMD: 110,
  TSLA: 250,
  AMZN: 180,
};

interface Bar {
  date: CalendarDate;
  open: string;
  high: string;
  low: string;
  close: string;
}

/** A walk without chance: waves of two lengths, which differ by symbol. */
function bars(symbol: string, from: CalendarDate, to: CalendarDate, raised = 0): Bar[] {
  const base = SYMBOLS[symbol] ?? 100;
  const at = (day: number) =>
    base *
    (1 + 0.08 * Math.sin(day / (3 + (base % 7))) + 0.03 * Math.cos(day * base) + day / 2_000);
  return weekdays(from, to)
    .filter((date) => date !== HOLIDAY)
    .map((date) => {
      const day = (Date.parse(date) - Date.parse('2025-07-01')) / 86_400_000;
      const share = symbol === 'NVDA' && date < SPLIT ? 2 : 1;
      const [open, close] = [at(day) * share + raised, at(day + 0.6) * share + raised];
      const [high, low] = [Math.max(open, close) * 1.005, Math.min(open, close) * 0.995];
      return {
        date,
        open: open.toFixed(2),
        high: high.toFixed(2),
        low: low.toFixed(2),
        close: close.toFixed(2),
      };
    });
}

const csvOf = (symbol: string, list: readonly Bar[]) =>
  list.map(({ date, open, high, low, close }) =>
    [symbol, date, open, high, low, close, 1000].join(),
  );
const HEADER = 'symbol,date,open,high,low,close,volume';

/** A line per bar, as the price servers of the tests take them. */
export function tableOf(symbols: readonly string[], from: CalendarDate, to: CalendarDate): string {
  const rows = symbols.flatMap((symbol) =>
    bars(symbol, from, to).map(({ date, open, close }) => [symbol, date, open, close].join(' ')),
  );
  return rows.join('\n');
}

const REFUSED = [
  'AAPL,2025-02-30,1,1,1,1,1', // not a date
  'AAPL,09022025,1,1,1,1,1',
  'AAPL,2025-07-05,10,9,11,10,1', // the low above the high
  'MSFT,1899-12-29,10,10,10,10,1',
  'KO,2025-06-30,0.00001,1,0.00001,1,1', // below the unit of money
  ',2025-06-30,1,1,1,1,1',
  'QQQ,2025-06-27,5,5,5,5,1', // two rows that contradict each other
  'QQQ,2025-06-27,6,6,6,6,1',
];

/** Writes the price files, which the commands of the story name. */
export function writePrices(side: Side, last: CalendarDate): void {
  const all = (symbol: string) => bars(symbol, '2025-07-01', last);
  const daily = ['AAPL', 'MSFT', 'KO', 'QQQ'].flatMap((symbol) => csvOf(symbol, all(symbol)));
  side.write('prices.csv', [HEADER, ...daily, ...REFUSED, ''].join('\n'));
  const factors = all('QQQ').map(({ date }, day) =>
    [date, (day % 5) - 2, (day % 7) - 3, day === 3 ? -999 : 0.01].join(),
  );
  side.write('factors.csv', ['date,Mkt-RF,SMB,RF', ...factors, ''].join('\n'));
  const adjusted = all('NVDA').map(({ date, open, high, low, close }) => {
    const [dividend, split] = [date === '2025-09-11' ? '0.01' : '0', date === SPLIT ? '2' : '1'];
    return `${date},${open},${high},${low},${close},${close},1000,${dividend},${split}`;
  });
  const adjustedHeader =
    'timestamp,open,high,low,close,adjusted_close,volume,dividend_amount,split_coefficient';
  side.write('NVDA.csv', [adjustedHeader, ...adjusted.toReversed(), ''].join('\r\n'));
  const series = (symbol: string, names: readonly string[]) => {
    const days = all(symbol).map(({ date, open, high, low, close }) => {
      const cells = [open, high, low, close, '1000'];
      return [date, Object.fromEntries(names.map((name, at) => [name, cells[at]]))];
    });
    return {
      'Meta Data': { '2. Symbol': symbol },
      'Time Series (Daily)': Object.fromEntries(days),
    };
  };
  side.write(
    'AMD.json',
    JSON.stringify(series('AMD', ['1. open', '2. high', '3. low', '4. close', '5. volume'])),
  );
  const merged = ['1. buy price', '2. high', '3. low', '4. sell price', '5. volume'];
  side.write(
    'merged.jsonl.gz',
    gzipSync(`${JSON.stringify(series('AMZN', merged))}\n{"no": "prices"}\n`),
  );
  const yahoo = all('TSLA').map(({ date, open, high, low, close }) =>
    [date, open, high, low, close, close, 1000].join(),
  );
  side.write('TSLA.csv', ['Date,Open,High,Low,Close,Adj Close,Volume', ...yahoo, ''].join('\n'));
  const paid = ['KO,2025-09-12,0.51,USD', 'KO,2025-10-07,0.52,USD', 'AAPL,2025-09-15,0.26,USD'];
  const dividends = [...paid, 'MSFT,2025-09-18,0.9,EUR', 'MSFT,never,1,USD'];
  side.write('dividends.csv', ['symbol,ex_date,amount,currency', ...dividends, ''].join('\n'));
  // What comes later: a correction of prices that were used, and a dividend that was not known.
  side.write(
    'correction.csv',
    [HEADER, ...csvOf('AAPL', bars('AAPL', '2025-09-08', '2025-09-09', 3)), ''].join('\n'),
  );
  side.write('late.csv', 'symbol,ex_date,amount\nMSFT,2025-09-17,0.83\nMSFT,2025-10-01,0\n');
  side.write('nothing.txt', 'neither prices nor dividends\n');
  side.write('empty.csv', '');
}

const baseline = (name: string, more = {}) => ({
  signature: name,
  basemodel: `baseline/${name}`,
  enabled: true,
  ...more,
});
const universes = { small: ['AAPL', 'KO'], unknown: ['ZZA', 'ZZB'] };

/** Simulated models of several kinds, and every baseline. */
export const devConfiguration = {
  models: [
    {
      signature: 'alpha',
      enabled: true,
      notes: true,
      knowledge_cutoff: '2025-09-12',
      prompt: 'Think twice.',
    },
    { signature: 'beta', enabled: true, repeats: 2, temperature: 0.5 },
    {
      signature: 'gamma, the third',
      enabled: true,
      price_per_million_tokens: { input: 1, output: 2 },
      max_cost_usd: 1,
    },
    { signature: 'off', enabled: false },
    ...['buy-and-hold', 'equal-weight', 'momentum'].map((name) => baseline(name)),
    baseline('random', { repeats: 2 }),
  ],
  universes,
  agent_config: {
    stock_symbols: ['AAPL', 'MSFT', 'KO', 'NVDA', 'AMD', 'TSLA', 'AMZN'],
    ...{ commission_per_trade: 1, commission_bps: 2, slippage_bps: 5 },
  },
};

/** Models of every dialect behind one scripted server, one that fails, and a baseline. */
export function prodConfiguration(baseUrl: string): object {
  const server = { openai_base_url: baseUrl, openai_api_key: 'sk-story-0123456789' };
  const model = (signature: string, more = {}) => ({
    signature,
    enabled: true,
    ...server,
    ...more,
  });
  const price = { price_per_million_tokens: { input: 1.25, output: 10, cached_input: 0.125 } };
  return {
    models: [
      model('chat', {
        notes: true,
        knowledge_cutoff: '2025-10-07',
        ...price,
        reasoning_effort: 'low',
        seed: 7,
      }),
      model('chat-stream', { stream: true, temperature: 0.2 }),
      model('responses', { api: 'responses', ...price, max_cost_usd: 0.02 }),
      model('messages', { api: 'messages', stream: true, prompt: 'Be brief.' }),
      model('faulty', { max_tokens: 500 }),
      baseline('buy-and-hold'),
    ],
    universes,
    agent_config: {
      stock_symbols: ['AAPL', 'MSFT', 'KO', 'NVDA'],
      ...{ base_delay: 0.005, max_retries: 2, max_steps: 6, initial_cash: 20_000 },
    },
  };
}
