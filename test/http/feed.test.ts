import assert from 'node:assert/strict';
import { before, test, type TestContext } from 'node:test';
import { decisionsResponse } from '../../src/features/decisions/route.ts';
import { searchResponse } from '../../src/core/api/reasoning.ts';
import { type Script, scriptedAgent } from '../support/agents.ts';
import { runJobHere } from '../support/job-here.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { like, tableOf } from '../support/text-table.ts';
import { validBody } from '../support/valid-body.ts';

/** `GET /decisions` and `GET /search`: what all models did, and why, page by page. */

const [MON, TUE, WED] = ['2025-11-10', '2025-11-11', '2025-11-12'] as const;

const PRICES = [MON, TUE, WED]
  .flatMap((date) => [`AAPL ${date} 100 101`, `MSFT ${date} 200 202`])
  .join('\n');

const RISES = '苹果公司的股价今天上涨了。Apple rises, so I buy: “momentum” above all.';
/** What a model says, and the calls of the same answer. */
type Turn = Script[string][number];
const turn = (words: string, ...calls: Turn): Turn => [['say', words], ...calls];
const script: Script = {
  [`model-a ${MON}`]: [
    turn(RISES, ['buy', { symbol: 'AAPL', amount: 10 }]),
    turn('', ['think', 'Now the rest into Microsoft.'], ['buy', { symbol: 'msft', amount: 500 }]),
    turn('', ['buy', { symbol: 'MSFT', amount: 2 }], ['get_price', { symbol: 'NONE' }]),
  ],
  [`model-a ${TUE}`]: [turn('I sell what I lack.', ['sell', { symbol: 'MSFT', amount: 'ten' }])],
  [`model-b ${MON}`]: [[['fail', 'The endpoint answered 500']]],
  [`model-b ${TUE}`]: [turn('An der Börse: drei Anteile.', ['buy', { symbol: 'AAPL', amount: 3 }])],
  [`model-b ${WED}`]: [
    turn('Before it breaks.', ['get_portfolio', {}]),
    [['fail', 'The endpoint answered 501']],
  ],
};

let service: TestService;
let jobs: string[];
before(async (t) => {
  service = await startTestService(t as TestContext, {
    agent: scriptedAgent(script),
    prices: PRICES,
  });
  const models = ['model-a', 'model-b'];
  const both = await runJobHere(service, script, { start_date: MON, end_date: WED, models });
  // Replaced: what model-b bought on Tuesday no longer counts, nor what it said.
  const again = { start_date: TUE, end_date: TUE, models: ['model-b'], replace_existing: true };
  const purchase = turn('Für München: sechs Anteile.', ['buy', { symbol: 'AAPL', amount: 6 }]);
  const replaced = await runJobHere(service, { [`model-b ${TUE}`]: [purchase] }, again);
  // Repeated: the failed Monday is completed now.
  const monday = { start_date: MON, end_date: MON, models: ['model-b'] };
  const repeated = await runJobHere(service, {}, monday);
  jobs = [both, replaced, repeated].map(({ job_id }) => job_id);
});

async function decisionsAt(query: string) {
  const { decisions, count } = await validBody(service, `/decisions${query}`, decisionsResponse);
  assert.equal(count, decisions.length);
  return decisions;
}

async function foundAt(query: string) {
  const { messages, count } = await validBody(service, `/search${query}`, searchResponse);
  assert.equal(count, messages.length);
  return messages;
}

/** The items of all pages of a list; no page has more than its limit. */
async function allPages(path: string, itemsOf: (body: any) => any[]): Promise<any[]> {
  const limit = Number(/limit=(\d+)/.exec(path)?.[1]);
  const items: any[] = [];
  for (let before: string | null = ''; before !== null; ) {
    const { body } = await service.get(`${path}&before=${encodeURIComponent(before)}`);
    const page = itemsOf(body);
    assert.ok(page.length <= limit);
    items.push(...page);
    before = body.next_before;
  }
  return items;
}

const words = (one: any) =>
  [
    `${one.date} ${one.model} ${one.kind}`,
    [one.side, one.amount, one.symbol, one.price].map((cell) => cell ?? '-').join(' '),
    `${one.message_index} ${one.reason}`,
    String(one.detail),
  ] as const;

/** What, order, message and reason, detail. */
const ALL = tableOf<[what: string, order: string, reason: string, detail: string]>(`
  ${WED} model-a no_trade | - - - -         | 1 Done.                        | null
  ${WED} model-b failure  | - - - -         | 1 Before it breaks.            | The endpoint answered 501
  ${TUE} model-a no_trade | - - - -         | 3 Done.                        | null
  ${TUE} model-a malformed | - - - -        | 2 I sell what I lack.          | sell: amount…
  ${TUE} model-b trade    | buy 6 AAPL 100  | 2 Für München: sechs Anteile.  | null
  ${MON} model-a trade    | buy 2 MSFT 200  | 6 Now the rest into Microsoft. | null
  ${MON} model-a refusal  | buy 500 MSFT -  | 4 Now the rest into Microsoft. | Cannot buy 500 MSFT…
  ${MON} model-a trade    | buy 10 AAPL 100 | 2 ${RISES}                     | null
  ${MON} model-b no_trade | - - - -         | 1 Done.                        | null
`);
/** The decisions in these places of the list. */
const at = (places: readonly number[]) => places.map((place) => ALL[place]?.[0]);

test('each decision of the active sessions once, newest first, with the words before it', async () => {
  const found = (await decisionsAt('')).map(words);
  const rows = found.map((row) => row.slice(0, 3));
  const given = rows;
  assert.deepEqual(
    given,
    ALL.map((row) => row.slice(0, 3)),
  );
  for (const [index, row] of found.entries()) assert.match(row[3], like(ALL[index]?.[3] ?? ''));
});

const filters: [query: string, places: number[]][] = [
  ['model=model-b', [1, 4, 8]],
  ['models=model-b,model-a', [0, 1, 2, 3, 4, 5, 6, 7, 8]],
  ['symbol=msft', [5, 6]],
  ['symbol=AAPL&kind=trade', [4, 7]],
  ['symbol=MSFT&kind=refusal', [6]],
  ['symbol=MSFT&kind=malformed', []],
  ['kind=refusal', [6]],
  ['kind=malformed', [3]],
  ['symbol=MSFT&kind=failure', []],
  ['symbol=NVDA', []],
  ['kind=trade', [4, 5, 7]],
  ['kind=failure', [1]],
  ['kind=no_trade', [0, 2, 8]],
  [`start_date=${TUE}&end_date=${TUE}`, [2, 3, 4]],
  [`end_date=${MON}&model=model-a&kind=trade`, [5, 7]],
  ['job_id=0', [0, 1, 2, 3, 5, 6, 7]],
  ['job_id=1', [4]],
  ['job_id=2', [8]],
];
test('filters of decisions: the same however long the pages are', async () => {
  for (const [query, places] of filters) {
    const chosen = query.replace(/job_id=(\d)/, (_, index) => `job_id=${jobs[Number(index)]}`);
    for (const limit of [1, 2, 200]) {
      const found = await allPages(`/decisions?${chosen}&limit=${limit}`, (body) => body.decisions);
      const decisions = found.map((one) => words(one)[0]);
      assert.deepEqual(decisions, at(places), `${query}, ${limit} a page`);
    }
  }
});

test('a page after a decision that was replaced meanwhile continues with the next model-day', async () => {
  const sql = `SELECT session_id || ':' || message_index || ':' || action_id AS id
    FROM decisions JOIN trading_sessions USING (session_id) WHERE status = 'superseded'`;
  const id = service.database.statement(sql).get()?.['id'];
  const found = await decisionsAt(`?before=${id}&job_id=${jobs[0]}`);
  const given = found.map((one) => words(one)[0]);
  assert.deepEqual(given, at([5, 6, 7]));
});

/** The words that are marked in an excerpt. */
const marked = ({ excerpt, matches }: any) =>
  matches.map(([start, length]: [number, number]) =>
    [...excerpt].slice(start, start + length).join(''),
  );

/** What is searched, where it is found, and what is marked there. */
const searches = tableOf<[what: string, search: string, place: string, marked: string]>(`
  a word in another case               | MOMENTUM                 | model-a ${MON} 1 | momentum
  part of a Chinese sentence           | 股价                     | model-a ${MON} 1 | 股价
  parts of it in any order             | 上涨 苹果                | model-a ${MON} 1 | 苹果, 上涨
  words without their accents          | fur munchen              | model-b ${TUE} 1 | Für, München
  accents that were not written        | síx sechs                |                  |
  what a superseded session said       | Börse                    |                  |
  thoughts                             | rest Microsoft           | model-a ${MON} 3 | rest, Microsoft
  a failed session, until it completes | breaks                   | model-b ${WED} 1 | breaks
  a refusal                            | cannot buy 500           | model-a ${MON} 4 | Cannot, buy, 500
  arguments                            | ten                      | model-a ${TUE} 2 | ten
  words that are in no one message     | momentum Microsoft       |                  |
  operators of SQLite as words         | momentum AND OR NOT NEAR |                  |
  quotes, brackets, stars as nothing   | "momentum* (^all:        | model-a ${MON} 1 | momentum, all
  a word of the opening prompt         | previousClose            |                  |
`);
test('what a search finds and marks', async () => {
  for (const [what, search, place, words] of searches) {
    const found = await foundAt(`?q=${encodeURIComponent(search)}`);
    assert.deepEqual(
      found.map((one) => [`${one.model} ${one.date} ${one.message_index}`, marked(one).join(', ')]),
      place === '' ? [] : [[place, words]],
      what,
    );
  }
});

test('search: the filters and pages of the feed, newest message first', async () => {
  const all = await foundAt('?q=done');
  const places = all.map(({ model, date }) => `${model} ${date}`);
  const of = (model: string, ...dates: string[]) => dates.map((date) => `${model} ${date}`);
  assert.deepEqual(places, [...of('model-b', MON, TUE), ...of('model-a', WED, TUE, MON)]);
  assert.deepEqual(await allPages('/search?q=done&limit=2', (body) => body.messages), all);
  const counts: [query: string, count: number][] = [
    [`model=model-b`, 2],
    [`models=model-a`, 3],
    [`job_id=${jobs[1]}`, 1],
    [`start_date=${WED}`, 1],
    [`end_date=${MON}&model=model-a`, 1],
  ];
  for (const [query, count] of counts)
    assert.equal((await foundAt(`?q=done&${query}`)).length, count, query);
});
