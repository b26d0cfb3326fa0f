import assert from 'node:assert/strict';
import { before, test, type TestContext } from 'node:test';
import { differences } from '../../src/features/experiments/study-terms.ts';
import { scriptedAgent } from '../support/agents.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { recordDates } from '../support/track-records.ts';

/** What answers show of one study, and of several. */

const STUDIES: Record<string, object> = {
  usual: {},
  hidden: { open: 'hidden' },
  costly: { commission_per_trade: 1 },
  'no pay': { dividends: false },
  limited: { limits: { max_orders: 5 } },
  rich: { initial_cash: 20_000 },
  short: { max_steps: 9 },
  ten: { universe: 'one' },
  other: { stock_symbols: ['AAPL', 'KO'] },
  two: { open: 'hidden', slippage_bps: 10, models: ['gpt', 'off'] },
  idle: {},
};
const RUN = Object.keys(STUDIES).filter((name) => name !== 'idle');
const DAYS = recordDates(20);

let service: TestService;
const jobs = new Map<string, string>();
before(async (t) => {
  const prices = ['AAPL', 'MSFT'].flatMap((symbol) =>
    DAYS.map((date, day) => `${symbol} ${date} ${100 + (day % 3)} ${101 + (day % 5)}`),
  );
  service = await startTestService(t as TestContext, {
    configuration: {
      models: [
        { signature: 'gpt', enabled: true, repeats: 2 },
        { signature: 'v@2', enabled: true },
        { signature: 'off' },
      ],
      agent_config: { stock_symbols: ['AAPL', 'MSFT'] },
      universes: { one: ['AAPL'] },
      studies: STUDIES,
    },
    prices: prices.join('\n'),
    settings: { maxSimulationDays: 60 },
    agent: scriptedAgent({
      [`gpt ${DAYS[0]}`]: [[['buy', { symbol: 'AAPL', amount: 9 }]]],
      [`gpt#2 ${DAYS[0]}`]: [[['buy', { symbol: 'AAPL', amount: 20 }]]],
      [`v@2 ${DAYS[3]}`]: [[['buy', { symbol: 'AAPL', amount: 30 }]]],
    }),
  });
  const range = { start_date: DAYS[0], end_date: DAYS.at(-1) };
  for (const study of ['', ...RUN]) {
    const job = await service.runJob({ ...range, study });
    assert.equal(job.status, 'completed', study);
    jobs.set(study, job.job_id);
  }
});

const compare = async (query: string) => {
  const { body } = await service.get(`/comparison?${query}`);
  return { ...body, sentence: body.pairs?.[0].sentence };
};

/** What differs from the study `usual`, as `differ` names it, and how a sentence says it. */
const sides: [study: string, differ: string, own: string, usual: string][] = [
  ['hidden', 'open', 'the open hidden', 'the open shown'],
  ['costly', 'costs', 'trading costs of 1 dollar per trade', 'no trading costs'],
  ['no pay', 'dividends', 'dividends not paid', 'dividends paid'],
  ['limited', 'limits', 'limits on orders of at most 5 orders a day', 'no limits on orders'],
  ['rich', 'initial_cash', '20000 dollars of initial cash', '10000 dollars of initial cash'],
  ['short', 'max_steps', 'at most 9 steps a day', 'at most 30 steps a day'],
  ['ten', 'universe', 'a universe of 1 symbol', 'a universe of 2 symbols'],
  ['other', 'universe', 'the universe of the study other', 'the universe of the study usual'],
  [
    'two',
    'costs,open',
    'trading costs of slippage of 10 basis points and the open hidden',
    'no trading costs and the open shown',
  ],
];
test('models of two studies have one sentence, which says in what the studies differ', async () => {
  for (const [study, differ, own, usual] of sides) {
    const models = [`gpt@${study}`, 'gpt@usual'].map(encodeURIComponent);
    const body = await compare(`models=${models.join()}&differ=${differ}`);
    const start = `With ${own} gpt made `;
    assert.ok(body.sentence.startsWith(start), body.sentence);
    assert.match(body.sentence.slice(start.length), /^(as much as|[\w. ]+ (more|less) than) with /);
    assert.ok(body.sentence.includes(` with ${usual} over 20 days`), body.sentence);
    assert.equal(body.study, null);
    const reverse = await compare(`models=${models.toReversed().join()}&differ=${differ}`);
    assert.ok(reverse.sentence.startsWith(`With ${usual} gpt made `), reverse.sentence);
    const asked = differ.split(',');
    for (const named of [asked.slice(1), differences.filter((kind) => !asked.includes(kind))]) {
      const barred = await compare(`models=${models.join()}&differ=${named.join()}`);
      const [pair] = barred.pairs;
      assert.ok(pair.sentence.endsWith(` differ=${differ}.`), pair.sentence);
      assert.deepEqual([pair.difference, pair.interval, pair.p_value], [null, null, null]);
      const ranks = barred.models.map((one: any) => one.probability_best);
      assert.deepEqual(ranks, [null, null], 'neither is ranked');
      assert.equal(barred.answer.against, null);
    }
  }
});

test('where nothing differs no term is claimed; another entry is named', async () => {
  const same = await compare('models=gpt@usual,gpt@&differ=open');
  assert.match(same.sentence, /^gpt is level with gpt@usual|^gpt@usual is level with gpt/);
  const other = await compare('models=gpt@usual,v%402@hidden&differ=open');
  assert.match(
    other.sentence,
    /^With the open shown gpt made .* than v@2 with the open hidden over/,
  );
  const inOne = await compare('study=hidden&models=gpt,v%402@hidden');
  assert.equal(inOne.study, 'hidden');
  assert.match(inOne.sentence, /^(gpt|v@2)@hidden is .* of (gpt|v@2)@hidden over/);
});

test('with one pair that is not compared, no figure is of all models', async () => {
  const models = ['gpt@costly', 'gpt@hidden', 'gpt@usual'];
  for (const order of [models, models.toReversed()]) {
    const body = await compare(`models=${order.join()}&differ=open&curves=true`);
    const reason = 'Their studies differ in costs: to compare them anyway, use differ=costs,open';
    assert.equal(body.answer.sentence, `No leader can be named. ${reason}.`);
    assert.deepEqual([body.answer.leader, body.leader.model], [null, null]);
    assert.equal(body.leader.unavailable.deflated_sharpe_ratio, reason);
    for (const one of body.models) assert.equal(one.unavailable.probability_best, reason);
    for (const { model, against, difference, curve } of body.pairs) {
      const isBarred = [model, against].includes('gpt@costly');
      assert.equal(difference === null, isBarred, model + against);
      assert.equal((curve ?? []).length === 0, isBarred, model + against);
    }
  }
});

test('trials are those of the studies compared, and the others are counted apart', async () => {
  const entries = RUN.length * 2 + 2; // each study and the one without a name have two
  for (const [query, trials] of [
    ['', 2],
    ['study=hidden', 2],
    ['models=gpt@usual,gpt@hidden&differ=open', 4],
    ['models=gpt,gpt@usual,gpt@hidden&differ=open', 6],
  ] as const) {
    const { leader } = await compare(query);
    assert.deepEqual([leader.trials, leader.trials_elsewhere], [trials, entries - trials], query);
  }
});

const names = (body: any) =>
  [
    ...new Set(
      (body.models ?? body.results ?? body.sessions ?? body.decisions ?? body.messages ?? []).map(
        (one: any) => one.model ?? one.signature,
      ),
    ),
  ].sort();
const reads: [path: string, models: string][] = [
  ['/performance', 'gpt gpt#2 v@2'],
  ['/performance?study=', 'gpt gpt#2 v@2'],
  ['/performance?study=hidden', 'gpt@hidden gpt@hidden#2 v@2@hidden'],
  ['/performance?study=hidden&model=gpt', 'gpt@hidden'],
  ['/performance?study=hidden&model=gpt%232', 'gpt@hidden#2'],
  ['/performance?study=hidden&model=v%402', 'v@2@hidden'],
  ['/performance?model=gpt@hidden', 'gpt@hidden'],
  ['/performance?model=v%402', 'v@2'],
  ['/performance?models=gpt@,gpt@two', 'gpt gpt#2 gpt@two gpt@two#2'],
  ['/performance?job_id=JOB&models=gpt', 'gpt@two gpt@two#2'],
  ['/results?job_id=JOB&model=off', 'off@two'],
  ['/performance?job_id=JOB', 'gpt@two gpt@two#2 off@two'],
  ['/performance?study=idle', ''],
  ['/results?study=two', 'gpt@two gpt@two#2 off@two'],
  ['/results?study=two&model=gpt', 'gpt@two'],
  ['/results?study=idle', ''],
  [`/reasoning?study=no%20pay&date=${DAYS[0]}`, 'gpt@no pay gpt@no pay#2 v@2@no pay'],
  ['/decisions?study=ten&limit=200&models=gpt', 'gpt@ten gpt@ten#2'],
  ['/search?study=rich&q=AAPL&models=gpt', 'gpt@rich gpt@rich#2'],
  ['/models', 'gpt gpt#2 off v@2'],
  ['/models?study=two', 'gpt@two gpt@two#2 off@two v@2@two'],
  ['/models?study=idle', 'gpt@idle gpt@idle#2 off@idle v@2@idle'],
];
test('a study in the query: its models, and names without @ are of it', async () => {
  for (const [path, models] of reads) {
    const { status, body } = await service.get(path.replace('JOB', jobs.get('two') ?? ''));
    assert.deepEqual([status, names(body).join(' ')], [200, models], path);
  }
  const { body } = await service.get('/results');
  assert.equal(names(body).length, 3 + RUN.length * 3, '/results shows all');
  const enabled = (await service.get('/models?study=two')).body.models;
  const on = enabled.flatMap((one: any) => (one.enabled ? one.signature : []));
  assert.deepEqual(on, ['gpt@two', 'gpt@two#2', 'off@two']);
  const list = (await service.get('/jobs?study=two')).body.jobs;
  assert.deepEqual(
    list.map((job: any) => [job.study, job.models]),
    [['two', ['gpt@two', 'gpt@two#2', 'off@two']]],
  );
  const { studies, newest_study: newest } = (await service.get('/models')).body;
  assert.deepEqual([studies, newest], [Object.keys(STUDIES), 'two']);
});

const there = `known studies: ${Object.keys(STUDIES).join(', ')}`;
const refused: [path: string, status: number, detail: string][] = [
  ['/results?study=nope', 422, `study: there is no study 'nope'; ${there}`],
  ['/models?study=nope', 422, `study: there is no study 'nope'; ${there}`],
  ['/results?study=two&study=two', 422, 'study: given more than once'],
  ['/reasoning?study=idle', 404, 'No trading sessions found matching the provided filters'],
  [
    '/performance?study=idle&model=gpt',
    422,
    'model: no job has run gpt@idle; GET /models lists the models',
  ],
  ...['/results?model', '/performance?by=entry&models', '/search?q=x&models'].map(
    (path): [string, number, string] => [
      `${path}=gpt@hidden&study=two`,
      422,
      `${path.split(/[?&]/).at(-1)}: gpt@hidden is of the study hidden; send study=hidden, or no study`,
    ],
  ),
  ['/performance?model=gpt@&study=two', 422, 'model: gpt has no study; send study=, or no study'],
  [
    '/comparison?differ=opens',
    422,
    `differ: expected some of ${differences.join(', ')}, separated by commas`,
  ],
  ['/documents/x?study=two', 422, 'study: unknown query parameter; this path takes as_of, version'],
];
test('what is refused of studies', async () => {
  for (const [path, status, detail] of refused) {
    const answer = await service.get(path);
    assert.deepEqual([answer.status, answer.body.detail], [status, detail], path);
  }
});

test('study is the last column of every table but that of returns', async () => {
  const last = async (path: string) => {
    const lines = (await (await fetch(service.url + path)).text()).trim().split('\r\n');
    return [
      lines[0]?.split(',').at(-1),
      new Set(lines.slice(1).map((line) => line.split(',').at(-1))),
    ];
  };
  const costly = ['study', new Set(['costly'])];
  for (const path of [
    ...['curve', 'trades', 'actions', 'figures'].map((table) => `/performance?table=${table}&`),
    ...['models', 'pairs'].map((table) => `/comparison?table=${table}&`),
    ...['/results?', '/decisions?', '/jobs?', '/holdings?model=gpt&'],
  ])
    assert.deepEqual(await last(`${path}format=csv&study=costly`), costly, path);
  const [name] = await last('/performance?table=returns&format=csv&study=two');
  assert.notEqual(name, 'study');
});
