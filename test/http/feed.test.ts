import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { before, test, type TestContext } from 'node:test';
import { decisionsResponse } from '../../src/api/decisions.ts';
import { searchResponse } from '../../src/api/search.ts';
import { type Script, scriptedAgent } from '../support/agents.ts';
import { runJobHere } from '../support/job-here.ts';
import { auditScripts } from '../support/replays.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { validBody } from '../support/valid-body.ts';

/** `GET /decisions` and `GET /search`: what all models did, and why, page by page. */

const [MON, TUE, WED] = ['2025-11-10', '2025-11-11', '2025-11-12'] as const;

const PRICES = [MON, TUE, WED]
  .flatMap((date) => [`AAPL ${date} 100 101`, `MSFT ${date} 200 202`])
  .join('\n');

const script: Script = {
  [`model-a ${MON}`]: [
    [
      ['say', '苹果公司的股价今天上涨了。Apple rises, so I buy: “momentum” above all.'],
      ['buy', { symbol: 'AAPL', amount: 10 }],
    ],
    [
      ['say', ''],
      ['think', 'Now the rest into Microsoft.'],
      ['buy', { symbol: 'msft', amount: 500 }],
    ],
    [
      ['say', ''],
      ['buy', { symbol: 'MSFT', amount: 2 }],
      ['get_price', { symbol: 'NONE' }],
    ],
  ],
  [`model-a ${TUE}`]: [
    [
      ['say', 'I sell what I lack.'],
      ['sell', { symbol: 'MSFT', amount: 'ten' }],
    ],
  ],
  [`model-b ${MON}`]: [[['fail', 'The endpoint answered 500']]],
  [`model-b ${TUE}`]: [
    [
      ['say', 'An der Börse: drei Anteile.'],
      ['buy', { symbol: 'AAPL', amount: 3 }],
    ],
  ],
  [`model-b ${WED}`]: [
    [
      ['say', 'Before it breaks.'],
      ['get_portfolio', {}],
    ],
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
  const both = await runJobHere(service, script, {
    start_date: MON,
    end_date: WED,
    models: ['model-a', 'model-b'],
  });
  // Replaced: what model-b bought on Tuesday no longer counts, nor what it said.
  const again = { start_date: TUE, end_date: TUE, models: ['model-b'], replace_existing: true };
  const other = {
    [`model-b ${TUE}`]: [
      [
        ['say', 'Für München: sechs Anteile.'],
        ['buy', { symbol: 'AAPL', amount: 6 }],
      ],
    ],
  } as Script;
  const replaced = await runJobHere(service, other, again);
  // Repeated: the failed Monday is completed now.
  const repeated = await runJobHere(
    service,
    {},
    { start_date: MON, end_date: MON, models: ['model-b'] },
  );
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

const words = ({
  kind,
  date,
  model,
  side,
  amount,
  symbol,
  price,
  reason,
  detail,
  message_index,
}: any) =>
  [
    `${date} ${model} ${kind}`,
    [side, amount, symbol, price].map((one) => one ?? '-').join(' '),
    reason,
    detail,
    message_index,
  ] as const;

const REFUSED_SALE = /^sell: amount/;
const RISES = '苹果公司的股价今天上涨了。Apple rises, so I buy: “momentum” above all.';
const ALL: [
  what: string,
  order: string,
  reason: string | null,
  detail: string | RegExp | null,
  message: number,
][] = [
  [`${WED} model-a no_trade`, '- - - -', 'Done.', null, 1],
  [`${WED} model-b failure`, '- - - -', 'Before it breaks.', 'The endpoint answered 501', 1],
  [`${TUE} model-a no_trade`, '- - - -', 'Done.', null, 3],
  [`${TUE} model-a refusal`, 'sell - MSFT -', 'I sell what I lack.', REFUSED_SALE, 2],
  [`${TUE} model-b trade`, 'buy 6 AAPL 100', 'Für München: sechs Anteile.', null, 2],
  [`${MON} model-a trade`, 'buy 2 MSFT 200', 'Now the rest into Microsoft.', null, 6],
  [
    `${MON} model-a refusal`,
    'buy 500 MSFT -',
    'Now the rest into Microsoft.',
    /^Cannot buy 500 MSFT/,
    4,
  ],
  [`${MON} model-a trade`, 'buy 10 AAPL 100', RISES, null, 2],
  [`${MON} model-b no_trade`, '- - - -', 'Done.', null, 1],
];

test('each decision of the active sessions once, newest first, with the words before it', async () => {
  const found = (await decisionsAt('')).map(words);
  assert.deepEqual(
    found.map(([what]) => what),
    ALL.map(([what]) => what),
  );
  found.forEach(([what, order, reason, detail, message], index) => {
    const [, expectedOrder, expectedReason, expectedDetail, expectedMessage] = ALL[
      index
    ] as (typeof ALL)[number];
    assert.deepEqual(
      [order, reason, message],
      [expectedOrder, expectedReason, expectedMessage],
      what,
    );
    if (expectedDetail instanceof RegExp) assert.match(detail, expectedDetail);
    else assert.equal(detail, expectedDetail);
  });
});

const filters: [query: string, places: number[]][] = [
  ['model=model-b', [1, 4, 8]],
  ['models=model-b,model-a', [0, 1, 2, 3, 4, 5, 6, 7, 8]],
  ['symbol=msft', [3, 5, 6]],
  ['symbol=AAPL&kind=trade', [4, 7]],
  ['symbol=MSFT&kind=refusal', [3, 6]],
  ['symbol=MSFT&kind=failure', []],
  ['symbol=NVDA', []],
  ['kind=trade', [4, 5, 7]],
  ['kind=refusal', [3, 6]],
  ['kind=failure', [1]],
  ['kind=no_trade', [0, 2, 8]],
  [`start_date=${TUE}&end_date=${TUE}`, [2, 3, 4]],
  [`end_date=${MON}&model=model-a&kind=trade`, [5, 7]],
  ['job_id=0', [0, 1, 2, 3, 5, 6, 7]],
  ['job_id=1', [4]],
  ['job_id=2', [8]],
];
for (const [query, places] of filters) {
  test(`decisions with ${query}: the same however long the pages are`, async () => {
    const chosen = query.replace(
      /job_id=(\d)/,
      (_, index: string) => `job_id=${jobs[Number(index)]}`,
    );
    const expected = places.map((place) => ALL[place]?.[0]);
    for (const limit of [1, 2, 200]) {
      const found = await allPages(`/decisions?${chosen}&limit=${limit}`, (body) => body.decisions);
      assert.deepEqual(
        found.map((one) => words(one)[0]),
        expected,
      );
    }
  });
}

test('a page after a decision that was replaced meanwhile continues with the next model-day', async () => {
  const sql = `SELECT session_id || ':' || message_index || ':' || action_id AS id
    FROM decisions JOIN trading_sessions USING (session_id) WHERE status = 'superseded'`;
  const id = service.database.statement(sql).get()?.['id'];
  const found = await decisionsAt(`?before=${id}&job_id=${jobs[0]}`);
  assert.deepEqual(
    found.map((one) => words(one)[0]),
    [5, 6, 7].map((place) => ALL[place]?.[0]),
  );
});

/** The words that are marked in an excerpt. */
const marked = ({ excerpt, matches }: any) =>
  matches.map(([start, length]: [number, number]) =>
    [...excerpt].slice(start, start + length).join(''),
  );

const searches: [what: string, search: string, found: [place: string, marked: string[]][]][] = [
  ['a word in another case', 'MOMENTUM', [[`model-a ${MON} 1`, ['momentum']]]],
  ['part of a Chinese sentence', '股价', [[`model-a ${MON} 1`, ['股价']]]],
  ['parts of it in any order', '上涨 苹果', [[`model-a ${MON} 1`, ['苹果', '上涨']]]],
  ['words without their accents', 'fur munchen', [[`model-b ${TUE} 1`, ['Für', 'München']]]],
  ['accents that were not written', 'síx sechs', []],
  ['what only a superseded session said', 'Börse', []],
  ['thoughts', 'rest Microsoft', [[`model-a ${MON} 3`, ['rest', 'Microsoft']]]],
  [
    'a failed session, as long as its model-day is not completed',
    'breaks',
    [[`model-b ${WED} 1`, ['breaks']]],
  ],
  ['a refusal', 'cannot buy 500', [[`model-a ${MON} 4`, ['Cannot', 'buy', '500']]]],
  ['arguments', 'ten', [[`model-a ${TUE} 2`, ['ten']]]],
  ['words that are in no one message', 'momentum Microsoft', []],
  ['operators of SQLite as words', 'momentum AND OR NOT NEAR', []],
  [
    'quotes, brackets and stars as nothing',
    '"momentum* (^all:',
    [[`model-a ${MON} 1`, ['momentum', 'all']]],
  ],
  ['a word of the opening prompt', 'previousClose', []],
];
for (const [what, search, expected] of searches) {
  test(`search finds ${what}`, async () => {
    const found = await foundAt(`?q=${encodeURIComponent(search)}`);
    assert.deepEqual(
      found.map((one) => [`${one.model} ${one.date} ${one.message_index}`, marked(one)]),
      expected,
    );
  });
}

test('the audit finds a database with the index of a search sound', async () => {
  const { damage, problems } = await auditScripts(service);
  assert.deepEqual([damage, problems.first], [[], []]);
});

test('search: the filters and pages of the feed, newest message first', async () => {
  const all = await foundAt('?q=done');
  assert.deepEqual(
    all.map(({ model, date }) => `${model} ${date}`),
    [...[`model-b ${MON}`, `model-b ${TUE}`, `model-a ${WED}`, `model-a ${TUE}`, `model-a ${MON}`]],
  );
  assert.deepEqual(await allPages('/search?q=done&limit=2', (body) => body.messages), all);
  const counts = [
    `model=model-b`,
    `models=model-a`,
    `job_id=${jobs[1]}`,
    `start_date=${WED}`,
    `end_date=${MON}&model=model-a`,
  ];
  const found = await Promise.all(
    counts.map(async (query) => (await foundAt(`?q=done&${query}`)).length),
  );
  assert.deepEqual(found, [2, 3, 1, 1, 1]);
});

test('a search finds the same when the database cannot be written', async () => {
  const { database } = service;
  const found = await foundAt('?q=done');
  renameSync(database.path, `${database.path}.away`);
  const whileAway = await foundAt('?q=done').finally(() =>
    renameSync(`${database.path}.away`, database.path),
  );
  assert.deepEqual(whileAway, found);
});
