import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseConfiguration } from '../src/core/settings/configuration.ts';
import { namedMarkets } from '../src/core/domain/market-rules.ts';
import {
  configurationSchema,
  storedConfigSchema,
} from '../src/core/settings/configuration-schema.ts';
import { readBlocks, preparePage } from './support/page-folder.ts';
import { startModelServer } from './support/model-server.ts';
import { ask } from './support/program.ts';
import { tableOf } from './support/text-table.ts';

/** The commands of the guides on models, prices, documents and exchanges, as they are printed there. */

const pages = [
  ...['add-a-model', 'import-prices', 'filings-and-news', 'other-exchanges'].map(
    (name) => `docs/guides/${name}.md`,
  ),
  ...['configuration', 'providers'].map((name) => `docs/reference/${name}.md`),
];
const textOf = (page: string) => readFileSync(new URL(`../${page}`, import.meta.url), 'utf8');
const wordsIn = (text: string): readonly string[] =>
  text.match(/[A-Z]{3,}|[\w-]+\.(?:csv|db|jsonl)|\d[\d,-]*/g) ?? [];

/** Names, numbers and dates in a printed output are in what the command prints. */
function assertFacts(printed: string | undefined, actual: string): void {
  const facts = wordsIn(printed ?? '');
  assert.ok(facts.length > 3);
  assert.deepEqual(
    facts.filter((fact) => !wordsIn(actual).includes(fact)),
    [],
    actual,
  );
}

const newestJob = async (url: string) => (await ask(`${url}/jobs`)).jobs[0];

const endTurn = (text: string, prompt_tokens = 100) => ({
  body: {
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: text } }],
    usage: { prompt_tokens, completion_tokens: 0 },
  },
});

test('the program knows every key of the configurations in these pages', () => {
  for (const page of pages) {
    const blocks = readBlocks(page, 'json');
    assert.ok(blocks.length > 0, page);
    for (const block of blocks)
      assert.deepEqual(parseConfiguration(JSON.parse(block), page).unknownKeys, []);
  }
});

test('the commands of docs/guides/import-prices.md print what is below them, and a job trades at the imported prices', async (t) => {
  const page = 'docs/guides/import-prices.md';
  const [configuration = ''] = readBlocks(page, 'json');
  const [importing = '', job = '', actions = '', check = ''] = readBlocks(page, 'sh');
  const folder = preparePage(t, configuration, ' ');
  const imported = await folder.run(importing);
  assert.equal(imported.code, 0);
  assert.equal(imported.stderr, '');
  const [printed = ''] = readBlocks(page, '');
  assertFacts(printed, imported.stdout);
  const url = await folder.serve();
  const { code, stdout } = await folder.run(job);
  assert.equal(code, 0, stdout);
  assert.ok((await newestJob(url)).warning_codes.includes('unknown_dividends'));
  assert.match((await folder.run(check)).stdout, /"source":"file-split-adjusted"/);
  const [, refusal = ''] = /`(my-prices\.csv:5: refused[^`]*)`/.exec(textOf(page)) ?? [];
  const refused = await folder.run(importing.replace('516.88', 'n/a'));
  assert.deepEqual([refused.code, refused.stderr], [0, `${refusal}\n`]);
  const { decisions } = await ask(`${url}/decisions?kind=trade`);
  assert.deepEqual(decisions.map(({ symbol, price }: any) => [symbol, price]).sort(), [
    ['AAPL', 237],
    ['MSFT', 508.79],
  ]);
  assert.equal((await folder.run(actions)).code, 0);
  assert.equal((await folder.run(job.replace('--watch', '--replace --watch'))).code, 0);
  const { warning_codes } = await newestJob(url);
  assert.ok(!warning_codes?.includes('unknown_dividends'), 'the dividends are known');
  const zeros = [...textOf(page).matchAll(/`(XYZ,[\d-]+,0)`/g)].map(([, line]) => line);
  folder.write('none.csv', ['symbol,ex_date,amount', ...zeros].join('\n'));
  folder.write('xyz.csv', 'symbol,date,open,close\nXYZ,2025-09-15,10,10\n');
  await folder.run('npx trading-simulation-service import-prices xyz.csv none.csv');
  const { symbols } = await ask(`${url}/prices/coverage?symbol=XYZ`);
  const { count, spans } = symbols[0].dividends;
  assert.deepEqual(
    [count, ...spans.map(({ start_date: from, end_date: to }: any) => `${from} ${to}`)],
    [0, '2025-09-15 2025-10-10'],
  );
  // The same files in DEV mode, with the default universe.
  const dev = preparePage(t, '{"models":[]}', 'DEPLOYMENT_MODE=DEV\nPRESERVE_DEV_DATA=true\n');
  await dev.run(importing);
  const there = await dev.serve({ RUNTIME_CONFIG_PATH: 'none', DEPLOYMENT_MODE: 'DEV' });
  writeFileSync(
    join(dev.path, 'configs/default_config.json'),
    '{"models":[{"signature":"b","basemodel":"baseline/cash","enabled":true}]}',
  );
  await dev.run(job);
  const [mixed] = (await ask(`${there}/jobs`)).jobs;
  assert.ok(mixed.warning_codes.includes('mixed_prices'));
  assertFacts(
    /"(Only 2 of 101.*?)"/s.exec(textOf(page).replaceAll('\n> ', ' '))?.[1],
    mixed.warnings.join(),
  );
});

test('the commands of docs/guides/other-exchanges.md buy the lots that it names, and its table of boards is that of the program', async (t) => {
  const page = 'docs/guides/other-exchanges.md';
  const [configuration = ''] = readBlocks(page, 'json');
  const [importing = '', job = ''] = readBlocks(page, 'sh');
  const folder = preparePage(t, configuration);
  assert.equal((await folder.run(importing)).code, 0);
  await folder.serve();
  const { code, stdout } = await folder.run(job);
  assert.equal(code, 0, stdout);
  const bought = [...stdout.matchAll(/"amount":(\d+)/g)].map(([, amount]) => Number(amount));
  assert.equal(bought.length, 2);
  for (const amount of bought)
    assert.ok(textOf(page).includes(amount.toLocaleString('en')), `${amount}`);
  const rows = tableOf(/^\| `688\*[^]*?\n\n/m.exec(textOf(page))?.[0].trim() ?? '');
  const written = rows.flatMap(([, symbols = '', minimum, step, limit]) =>
    [...symbols.matchAll(/`([^`]+)`/g)].map(([, one]) => [one, minimum, step, limit]),
  );
  assert.deepEqual(
    written,
    namedMarkets.cn.boards.map((board) =>
      [board.symbols, board.minimum, board.step, board.price_limit].map(String),
    ),
  );
});

/** In place of the package, which needs a network. */
const EDGAR = `
class Filing:
    def __init__(self, ticker, form, date):
        self.accession_no, self.form, self.company, self.filing_date = ticker + form, form, ticker + " Inc.", date
    def text(self):
        return "Text of " + self.form
class Company:
    def __init__(self, ticker):
        self.ticker = ticker
    def get_filings(self, *, form, filing_date):
        return [Filing(self.ticker, one, filing_date.split(":")[0]) for one in form]
def set_identity(name):
    pass
`;
const hasPython = spawnSync('python3', ['--version']).status === 0;

test('the commands of docs/guides/filings-and-news.md compare an entry that reads with one that does not', {
  skip: hasPython ? false : 'no python3',
}, async (t) => {
  const page = 'docs/guides/filings-and-news.md';
  const provider = await startModelServer(t, [endTurn('Nothing to do.')]);
  const env = { OPENAI_API_BASE: provider.baseUrl, OPENAI_API_KEY: 'sk-test-key' };
  const [configuration = ''] = readBlocks(page, 'json');
  const [importing = '', job = '', look = ''] = readBlocks(page, 'sh');
  const folder = preparePage(t, configuration);
  folder.write('edgar.py', EDGAR);
  const [script = ''] = readBlocks(page, 'python');
  const python = spawnSync('python3', ['-c', script], { cwd: folder.path, encoding: 'utf8' });
  assert.equal(python.status, 0, python.stderr);
  const imported = await folder.run(importing);
  assert.match(imported.stdout, /^filings\.jsonl: imported 9 documents \(9 new\)$/m);
  const bars = ['AAPL', 'MSFT', 'NVDA'].flatMap((symbol) =>
    ['2025-09-15', '2025-09-16'].map((date) => `${symbol},${date},100,101`),
  );
  folder.write('bars.csv', `symbol,date,open,close\n${bars.join('\n')}\n`);
  await folder.run('npx trading-simulation-service import-prices bars.csv');
  await folder.serve(env);
  const { stdout } = await folder.run(job, env);
  assert.match(stdout, /"model":"gpt-5-reads"/);
  const asked = provider.requests.map(({ body }) => [
    body.model,
    /list_documents/.test(JSON.stringify(body.tools)),
  ]);
  assert.deepEqual(new Set(asked.map(([, reads]) => reads)), new Set([true, false]));
  assert.equal(asked.length, 20);
  const looked = await folder.run(look);
  assert.match(looked.stdout, /imported 2 documents \(2 new\)[^]*"id":"a2"/);
  const dayBefore = await folder.run(look.replace(/as_of=[\d-]+/, 'as_of=2025-10-13'));
  assert.match(dayBefore.stdout, /No document 'a2' had been published/);
});

test('the example of docs/guides/add-a-model.md runs, and its cost limit is checked before a model-day', async (t) => {
  const page = 'docs/guides/add-a-model.md';
  const [prepare = '', importing = '', , trigger = '', later = ''] = readBlocks(page, 'sh');
  // A day of 500,000 tokens costs 2.50 dollars, the limit is 2.
  const provider = await startModelServer(t, [endTurn('Nothing to do.', 500_000)]);
  const folder = preparePage(t, '', ' ');
  assert.equal((await folder.run(prepare)).code, 0);
  const dotenv = readFileSync(join(folder.path, '.env'), 'utf8');
  const rows = ['AAPL', 'MSFT'].flatMap((symbol) =>
    ['2025-09-15', '2025-09-16'].map((date) => `${symbol},${date},100,101`),
  );
  folder.write('my-prices.csv', `symbol,date,open,close\n${rows.join('\n')}\n`);
  assert.equal((await folder.run(importing)).code, 0);
  const url = await folder.serve({ OPENAI_API_BASE: provider.baseUrl, OPENAI_API_KEY: 'sk-test' });
  assert.equal((await fetch(`${url}/jobs`)).status, 401);
  assert.equal((await folder.run(trigger)).code, 1);
  const headers = { authorization: `Bearer ${/^API_TOKEN=(.*)$/m.exec(dotenv)?.[1]}` };
  const get = async (path: string): Promise<any> => (await fetch(url + path, { headers })).json();
  const [, read = ''] = /`(set -a; [^`]*)`/.exec(textOf(page)) ?? [];
  const [, option = ''] = /`(-H [^`]*)`/.exec(textOf(page)) ?? [];
  assert.match((await folder.run(`${read}\ncurl ${option} localhost:8080/jobs`)).stdout, /"jobs":/);
  const { jobs } = await get('/jobs');
  const status = await get(`/simulate/status/${jobs[0].job_id}`);
  assert.deepEqual(
    status.details.map(({ model, date, status: end }: any) => `${model} ${date} ${end}`).sort(),
    [
      'buy-and-hold 2025-09-15 completed',
      'buy-and-hold 2025-09-16 completed',
      'opus 2025-09-15 completed',
      'opus 2025-09-16 failed',
    ],
  );
  assert.equal(provider.requests.length, 1);
  assert.match(later, /--models opus/);
  await folder.run(later);
  assert.equal((await get('/jobs')).count, 2);
});

test('docs/reference/configuration.md has every key of an entry, of agent_config and of its limits, with defaults', () => {
  const text = textOf('docs/reference/configuration.md');
  const keysIn = (heading: string) => {
    const [, section = ''] = text.split(`\n${heading}\n`);
    const [rows = ''] = /(^\| `.*\n)+/m.exec(section) ?? [];
    return tableOf(rows).flatMap(([, names = '', fallback = '']) => {
      const keys = [...names.matchAll(/`([a-z_]+)`/g)].map(([, key = '']) => key);
      const values = fallback.split(', ');
      return keys.map((key, index) => [key, (values[index] ?? '').replaceAll('`', '')] as const);
    });
  };
  const { models } = configurationSchema.entries;
  const inEntry = keysIn('## models').map(([key]) => key);
  const { name: _, ...entries } = models.item.entries;
  assert.deepEqual(inEntry.sort(), Object.keys(entries).sort());
  const { members: __, ...terms } = storedConfigSchema.entries;
  const written = keysIn('## agent_config');
  assert.deepEqual(written.map(([key]) => key).sort(), Object.keys(terms).sort());
  for (const [key, fallback] of written) {
    const known = (terms as Record<string, { default?: unknown }>)[key]?.default;
    if (['number', 'boolean', 'string'].includes(typeof known))
      assert.equal(
        String(JSON.parse(fallback === 'shown' ? '"shown"' : fallback)),
        `${known}`,
        key,
      );
  }
  assert.deepEqual(
    keysIn('### Limits')
      .map(([key]) => key)
      .sort(),
    ['max_orders', 'max_weight', 'min_cash'],
  );
});
