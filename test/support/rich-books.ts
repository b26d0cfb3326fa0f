import type { Answer, ToolCall } from '../../src/core/wire/protocol.ts';
import { type Books, createBooks } from './books.ts';
import { readPrices } from './prices.ts';

/** Books in which every table of a model-day has rows, and every kind of thing has happened. */

const PRICES = `
  AAPL 2025-01-02 99 100
  AAPL 2025-01-03 100 101
  AAPL 2025-01-06 102 103
  AAPL 2025-01-07 104 105
  AAPL 2025-01-08 106 107
  MSFT 2025-01-02 199 201
  MSFT 2025-01-03 200 198
  MSFT 2025-01-06 196 194
  MSFT 2025-01-08 190 191
  ORLY 2025-01-02 29 30
  ORLY 2025-01-06 30 33
  ORLY 2025-01-08 20 22`;

const USAGE = {
  ...{ promptTokens: 1_200, completionTokens: 340, reasoningTokens: 120 },
  ...{ cachedTokens: 1_000, cacheWriteTokens: null },
};
const ADDRESS = 'https://example.com/1';
const NEWS = { date: '2025-01-02', title: 'AAPL rises', url: ADDRESS, snippet: 'It rose.' };

type Call = [tool: string, args: object | string];

function answerOf(content: string, calls: readonly Call[], more: Partial<Answer> = {}): Answer {
  const toolCalls: ToolCall[] = calls.map(([name, args], index) => ({
    id: `call_${index + 1}`,
    name,
    arguments: typeof args === 'string' ? args : JSON.stringify(args),
  }));
  return { type: 'answer', content, toolCalls, reasoning: null, usage: USAGE, note: null, ...more };
}

/**
 * Two models over four days: trades, refusals, lookups, notes, news, dividends, splits, a spin-off,
 * revised prices, a replaced day.
 */
export async function richBooks(path?: string): Promise<Books> {
  const books = createBooks(path, { news: async () => ({ results: [NEWS], undated: 1 }) });
  for (const { symbol, date, ...bar } of readPrices(PRICES)) books.setBar(symbol, date, bar);
  books.setBar('AAPL', '2025-01-02', { open: 99, close: 99.5 });
  books.setBar('AAPL', '2025-01-02', { open: 99, close: 100 });
  books.setSplit('ORLY', '2025-01-08', 4, 2);
  books.setSplit('ORLY', '2025-01-08', 3, 2);
  books.setDividend('AAPL', '2025-01-07', 0.3);
  books.setDividend('AAPL', '2025-01-07', 0.25);
  books.setExchange('AAPL', '2025-01-07', 'MSFT', [1, 3], { cash: 0.2, remains: true });
  books.setExchange('AAPL', '2025-01-07', 'MSFT', [1, 4], { cash: 0.1, remains: true });
  books.wait(3_600);
  for (const model of ['model-a', 'model-b']) {
    await talk(books, model, '2025-01-03', [
      answerOf(
        'I look.',
        [
          ['get_price_history', { symbol: 'AAPL', days: 5 }],
          ['calculate', { expression: 'floor(10000 / 3)' }],
        ],
        { reasoning: 'Thinking.' },
      ),
      answerOf('I buy.', [
        ['buy', { symbol: 'AAPL', amount: 10 }],
        ['buy', { symbol: 'ORLY', amount: 7_000 }],
        ['write_note', { text: 'Hold AAPL.' }],
      ]),
    ]);
    await talk(books, model, '2025-01-06', [
      answerOf('I look.', [
        ['get_price', { symbol: 'MSFT', date: '2025-01-03' }],
        ['get_portfolio', {}],
        ['search_news', { query: 'AAPL' }],
        ['look_up\ud83d', 'no json'],
      ]),
      answerOf(
        '',
        [
          ['buy', { symbol: 'ORLY', amount: 7 }],
          ['sell', { symbol: 'AAPL', amount: 2 }],
        ],
        {
          note: 'Cut off.',
          served: { model: 'gpt-9-2026-01-02', id: 'r-1' },
          carried: { message: { thoughts: 'kept' }, calls: [{}, {}] },
        },
      ),
    ]);
    await talk(books, model, '2025-01-07', []);
    await talk(books, model, '2025-01-08', [
      answerOf(
        'I sell.',
        [
          ['sell', { symbol: 'ORLY', amount: 1 }],
          ['write_note', { text: '' }],
        ],
        { served: { model: 'gpt-9-2026-01-02' } },
      ),
    ]);
  }
  await talk(books, 'model-a', '2025-01-08', [
    answerOf('Again.', [['buy', { symbol: 'MSFT', amount: 3 }]]),
  ]);
  books.wait(3_600);
  books.setBar('MSFT', '2025-01-03', { open: 201, close: 197 });
  books.wait(3_600);
  return books;
}

async function talk(
  books: Books,
  model: string,
  date: string,
  answers: readonly Answer[],
): Promise<void> {
  const session = await books.open(date, model);
  for (const answer of answers) await session.answer(answer);
  await session.answer(answerOf('done', []));
  await session.end({ status: 'finished', summary: 'done' });
}
