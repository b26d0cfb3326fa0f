import { before, type TestContext } from 'node:test';
import { documentPath } from '../../src/features/pages/paths.ts';
import { storeDividends } from '../../src/core/database/splits-and-dividends.ts';
import { scriptedAgent } from './agents.ts';
import { storeDocuments } from './documents.ts';
import { noBrowser } from './chromium.ts';
import { runs } from './long.ts';
import { lastWeekdays, wavyPrices } from './market.ts';
import { startTestService, type TestService } from './service.ts';

/** One service for the tests of pages: three models, of which one attacks whoever reads it. */

const SYMBOLS = ['AAPL', 'MSFT', 'NVDA'];
export const dates = lastWeekdays(runs(3, 12));
export const [firstDate, secondDate, thirdDate] = dates as [string, string, string];
export const lastDate = dates.at(-1) as string;
/** What a model may write to attack the reader of its answers. */
export const HOSTILE = `</pre><img src=x onerror="window.pwned=1"><script>window.pwned=2</script><a href="javascript:pwned=3">&amp;'"`;
export const HOSTILE_MODEL = `<img src=x onerror=window.pwned=4>/"'%2F?#`;
/** A document that all models may read, with an id that is hard to put into an address. */
export const DOCUMENT = {
  ...{ id: 'a/b?c#ü%', kind: '10-K', published_at: '2020-01-02' },
  ...{ title: HOSTILE, source: HOSTILE, url: 'javascript:pwned=5', text: `${HOSTILE}\nEnd.` },
};
const configuration = {
  models: ['model-a', 'model-b', HOSTILE_MODEL].map((signature) => ({ signature, enabled: true })),
  agent_config: { stock_symbols: SYMBOLS },
};
const tooMuch: [string, object] = ['buy', { symbol: 'MSFT', amount: 1_000 }];
const script = {
  [`model-a ${firstDate}`]: [[['buy', { symbol: 'AAPL', amount: 30 }]]],
  [`model-a ${secondDate}`]: [[['sell', { symbol: 'AAPL', amount: 10 }], tooMuch]],
  [`model-b ${firstDate}`]: [[['buy', { symbol: 'NVDA', amount: 20 }]]],
  [`${HOSTILE_MODEL} ${firstDate}`]: [
    [['buy', { symbol: HOSTILE, amount: 1, [HOSTILE]: HOSTILE }]],
    [['list_documents', { limit: 2 }]],
    [['read_document', { id: DOCUMENT.id }]],
  ],
  [`${HOSTILE_MODEL} ${secondDate}`]: [[['fail', HOSTILE]]],
} satisfies Parameters<typeof scriptedAgent>[0];

export let service: TestService;
/** The paths of the pages, by what they show. */
export let pages: Record<'hostileModel' | 'hostileDay' | 'job' | (string & {}), string>;
before(async (t) => {
  if (noBrowser) return;
  const agent = scriptedAgent(script, HOSTILE);
  const prices = wavyPrices(SYMBOLS, dates);
  service = await startTestService(t as TestContext, { configuration, prices, agent, pages: true });
  const dividends = [{ symbol: 'AAPL', exDate: secondDate, cash: 500_000 }];
  const stamp = { source: 'csv', recordedAt: '2025-01-01T00:00:00.000Z' };
  storeDividends(service.database, { dividends, spans: [], basis: 'as_paid' }, stamp);
  const others = ['one', 'two'].map((id) => ({ id, title: id.repeat(150), symbols: ['AAPL'] }));
  storeDocuments(service.database, [DOCUMENT, ...others]);
  const { job_id: jobId } = await service.runJob({ start_date: firstDate, end_date: lastDate });
  const hostile = encodeURIComponent(HOSTILE_MODEL);
  pages = {
    overview: '/',
    compare: `/compare?models=model-a,${hostile}&date=${firstDate}`,
    jobs: '/job-list',
    model: '/models/model-a',
    hostileModel: `/models/${hostile}`,
    modelDay: `/model-days/model-a/${secondDate}`,
    hostileDay: `/model-days/${hostile}/${firstDate}`,
    failedDay: `/model-days/${hostile}/${secondDate}`,
    job: `/jobs/${jobId}`,
    data: '/data',
    document: documentPath(DOCUMENT.id, DOCUMENT.published_at),
    API: '/api',
  };
});
