import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { MASSIVE_KEY, startMassiveServer } from '../../test/support/massive-server.ts';
import { startPriceServer } from '../../test/support/price-server.ts';
import { devConfiguration, prodConfiguration, tableOf, writePrices } from './files.ts';
import { startProvider } from './provider.ts';
import type { Server, Side } from './side.ts';
import { type Known, sweep } from './sweep.ts';

/** The story that both programs play: import, jobs of every kind, every GET, every command. */

const DEV = { DEPLOYMENT_MODE: 'DEV', PRESERVE_DEV_DATA: 'true', RISK_FREE_RATE: '0.03' };
const FILES = [
  'NVDA.csv',
  'AMD.json',
  'merged.jsonl.gz',
  'TSLA.csv',
  'dividends.csv',
  'nothing.txt',
  'empty.csv',
  'missing.csv',
];

export async function play(side: Side): Promise<void> {
  await words(side);
  await devStory(side);
  await prodStory(side);
  await demo(side);
}

/** What needs no database: help, versions, mistakes. */
async function words(side: Side): Promise<void> {
  side.enter('words');
  const help = await side.run(['--help']);
  const [, list = ''] = /\[COMMAND\] \[OPTIONS\]\n\n([\s\S]*?)\n\n/.exec(help) ?? [];
  const names = list
    .split('\n')
    .map((line) => line.trim().split(' ')[0] as string)
    .filter((name) => !GONE.includes(name));
  if (names.length < 10) throw new Error(`The general help names no commands:\n${help}`);
  const unplayed = names.filter((name) => !PLAYED.includes(name));
  if (unplayed.length > 0)
    throw new Error(`Commands that the story does not play: ${unplayed.join(', ')}`);
  for (const name of names) await side.run([name, '--help']);
  for (const line of [
    '--version',
    '--licenses',
    'help check',
    'help nothing',
    'nothing',
    '--nothing',
  ])
    await side.run(line.split(' '));
  for (const line of ['backup --nothing x', 'restore', 'trigger', 'check a b'])
    await side.run(line.split(' '));
  await side.run(['serve'], { API_PORT: 'many', DEPLOYMENT_MODE: 'TEST' });
  await side.run(['healthcheck'], { API_PORT: '1' });
  await side.run(['check'], DEV);
}

/** Commands of the program before that the next one does not have. */
const GONE = ['results'];

/** The commands that this file runs. A new command has to be added to the story, and then here. */
const PLAYED = [
  ...[
    'serve',
    'demo',
    'import-prices',
    'import-factors',
    'import-documents',
    'download-prices',
    'disguise',
    'trigger',
    'watch',
  ],
  ...['backup', 'restore', 'check', 'view', 'publish', 'export', 'merge-config', 'healthcheck'],
];

async function post(
  server: Server,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<any> {
  return server.ask('/simulate/trigger', { method: 'POST', body, headers });
}

/** A job to its end; its status at the end is recorded. */
async function runJob(
  server: Server,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<string> {
  const { job_id: id } = await post(server, body, headers);
  return ended(server, id);
}

async function ended(server: Server, id: string): Promise<string> {
  await server.untilAnswer(`/simulate/status/${id}`, ({ completed_at }) => completed_at !== null);
  await server.ask(`/simulate/status/${id}`);
  return id;
}

const BAD_BODIES = [
  ...[
    '',
    '{',
    '[]',
    '{"end_date": null}',
    '{"end_date": ""}',
    '{"end_date": "2025-02-30"}',
    '{"end_date": "2100-01-01"}',
  ],
  ...[
    '{"start_date": "2025-10-03", "end_date": "2025-10-01"}',
    '{"start_date": "2024-01-01", "end_date": "2025-10-01"}',
  ],
  ...[
    '{"end_date": "2025-10-01", "models": "alpha"}',
    '{"end_date": "2025-10-01", "universe": "nothing"}',
  ],
  ...[
    '{"start_date": "2025-10-04", "end_date": "2025-10-05"}',
    '{"end_date": "2025-10-01", "more": 1}',
  ],
  '{"end_date": "2025-10-01", "models": ["beta#9"]}',
];

async function devStory(side: Side): Promise<void> {
  side.enter('dev');
  side.write('configs/default_config.json', JSON.stringify(devConfiguration));
  writePrices(side, '2025-10-31');
  await side.run(['import-prices', '--as', 'raw', 'prices.csv'], DEV);
  await side.run(['import-prices', ...FILES], DEV);
  await side.run(['import-prices', '--as', 'nonsense', 'prices.csv'], DEV);
  for (const file of ['factors.csv', 'factors.csv', 'prices.csv'])
    await side.run(['import-factors', file], DEV);
  const server = await side.serve([], DEV);
  for (const body of BAD_BODIES) await post(server, body);
  await post(server, '{"end_date": "2025-10-01"}', { 'content-type': 'text/plain' });
  const whole = { start_date: '2025-09-01', end_date: '2025-10-03' };
  const job = await runJob(server, whole, { 'idempotency-key': 'the-first' });
  await post(server, whole, { 'idempotency-key': 'the-first' });
  await post(server, { end_date: '2025-10-03' }, { 'idempotency-key': 'the-first' });
  // All that can be compared, before corrections leave the comparison without figures.
  const known: Known = {
    job,
    models: ['alpha', 'beta', 'gamma, the third'],
    first: '2025-09-10',
    last: '2025-09-30',
  };
  side.scene = 'dev, one job';
  await sweep(server, known);
  side.scene = 'dev';
  await runJob(server, { ...whole, models: ['alpha', 'beta'] });
  await runJob(server, { end_date: '2025-10-07', models: ['alpha', 'beta', 'buy-and-hold'] });
  await runJob(server, {
    start_date: '2025-09-22',
    end_date: '2025-09-24',
    models: ['alpha', 'buy-and-hold'],
    replace_existing: true,
  });
  await side.run(['import-prices', '--as', 'raw', 'correction.csv', 'late.csv'], DEV);
  await runJob(server, { end_date: '2025-10-08' });
  await runJob(server, {
    start_date: '2025-10-01',
    end_date: '2025-10-02',
    models: ['newcomer', 'random#2'],
    universe: 'small',
  });
  await runJob(server, {
    start_date: '2025-10-02',
    end_date: '2025-10-03',
    models: ['synthetic'],
    universe: 'unknown',
  });
  const clients = { API_URL: `http://127.0.0.1:${server.port}`, API_PORT: server.port };
  await side.run(['healthcheck'], clients);
  await side.run(
    ['trigger', '--start', '2025-10-06', '--end', '2025-10-06', '--models', 'beta', '--replace'],
    clients,
  );
  await side.run(['watch'], clients);
  await side.run(
    ['trigger', '--end', '2025-10-09', '--models', 'alpha,off', '--universe', 'small', '--watch'],
    clients,
  );
  await side.run(['watch', 'no-such-job'], clients);
  await side.run(['trigger', '--end', '2100-01-01'], clients);
  await side.run(['backup', 'while-it-runs.db'], DEV);
  await sweep(server, known);
  await server.stop();
  await files(side, { job, known, env: DEV });
  const again = await side.serve([], DEV);
  await again.ask('/jobs');
  await again.ask('/performance');
  const filing = {
    id: 'f',
    kind: '10-K',
    title: 'Filing',
    published_at: '2025-10-01',
    text: 'Up.',
  };
  side.write('documents.jsonl', `${JSON.stringify(filing)}\n{}\n`);
  for (const file of ['documents.jsonl', 'documents.jsonl', 'prices.csv'])
    await side.run(['import-documents', file], DEV);
  for (const path of ['coverage', 'f?as_of=2025-10-02', 'f?as_of=2025-10-01', 'f'])
    await again.ask(`/documents/${path}`);
  await runJob(again, { end_date: '2025-10-13', models: ['alpha'] });
  await again.ask('/reasoning?model=alpha&date=2025-10-13&include_full_conversation=true');
  await again.stop('SIGINT');
}

/** What commands make of a database at rest: copies, packages, proofs, views, a control market. */
async function files(
  side: Side,
  { job, known, env }: { job: string; known: Known; env: Record<string, string> },
): Promise<void> {
  await side.run(['check'], env);
  await side.run(['check', '--replay'], env);
  await side.run(['backup', 'copy.db'], env);
  await side.run(['backup', 'copy.db'], env);
  await side.run(['backup'], env);
  await side.run(['backup', '--job', job, 'package.db'], env);
  await side.run(['backup', '--job', 'no-such-job', 'none.db'], env);
  side.write('garbage.db', 'this is no database, however long one looks at it '.repeat(100));
  for (const file of ['copy.db', 'package.db', 'garbage.db', 'empty.csv', 'missing.db'])
    await side.run(['check', '--replay', file]);
  for (const file of ['garbage.db', 'missing.db', 'package.db', 'copy.db'])
    await side.run(['restore', file], env);
  await side.run(['check'], env);
  await side.run(['view', 'garbage.db'], { API_PORT: '0' });
  const disguise = ['disguise', '--seed', 'river', '--from', '2025-09-02', '--to', '2025-10-03'];
  const markets = [
    '--out control',
    '--out control',
    '--out other --weeks 10 --universe small --name mine',
  ];
  for (const more of markets) await side.run([...disguise, ...more.split(' ')], env);
  const filesOf = (folder: string) =>
    readdirSync(join(side.folder, folder))
      .sort()
      .map((name) => `${folder}/${name}`);
  const written = [...filesOf('control'), ...filesOf('other')];
  for (const path of written)
    side.note(`file ${path}`, readFileSync(join(side.folder, path), 'utf8'));
  await side.run(['import-prices', 'control/prices.csv', 'control/dividends.csv'], env);
  await side.run(
    ['disguise', '--seed', 'x', '--from', '2001-01-01', '--to', '2001-02-01', '--out', 'nothing'],
    env,
  );
  side.write('user.json', JSON.stringify({ agent_config: { max_steps: 3, initial_cash: null } }));
  side.write('wrong.json', JSON.stringify({ models: null }));
  const target = { ...env, RUNTIME_CONFIG_PATH: 'merged.json' };
  for (const file of ['user.json', 'wrong.json', 'missing.json', 'nothing.txt'])
    await side.run(['merge-config', file], target);
  side.note('file merged.json', readFileSync(join(side.folder, 'merged.json'), 'utf8'));
  await publications(side, { job, known, env });
  side.scene += ', view of the package';
  const view = await side.serve(['view', 'package.db']);
  await sweep(view, known);
  await view.ask('/simulate/trigger', { method: 'POST', body: { end_date: '2025-10-03' } });
  await view.stop();
  side.scene = side.scene.replace(/,.*/, '');
}

/** Sites, with all that their pages ask for, and exported conversations. */
async function publications(
  side: Side,
  { job, known, env }: { job: string; known: Known; env: Record<string, string> },
): Promise<void> {
  const [model] = known.models;
  const part = ['--models', model, '--start', known.first, '--end', known.last];
  const sites = { all: ['--title', 'All'], job: ['--job', job], part };
  for (const [folder, choice] of Object.entries(sites)) {
    await side.run(['publish', ...choice, folder], env);
    await side.run(['publish', ...choice, folder], env);
    const paths = readdirSync(join(side.folder, folder), { recursive: true, encoding: 'utf8' });
    for (const path of paths.sort()) {
      const content = () => readFileSync(join(side.folder, folder, path));
      if (path.endsWith('.gz')) side.note(`file ${folder}/${path}`, String(gunzipSync(content())));
      if (path.endsWith('.svg')) side.note(`file ${folder}/${path}`, String(content()));
    }
  }
  await side.run(['publish', '--models', 'nobody', 'none'], env);
  await side.run(['publish', '.'], env);
  for (const more of [[], part, ['--with-reasoning', '--job', job]]) {
    const name = `days-${more.length}.jsonl`;
    await side.run(['export', 'conversations', ...more, name], env);
    await side.run(['export', 'conversations', ...more, name], env);
    side.note(`file ${name}`, readFileSync(join(side.folder, name), 'utf8'));
  }
}

async function prodStory(side: Side): Promise<void> {
  side.enter('prod');
  const provider = await startProvider(side);
  side.write('configs/default_config.json', JSON.stringify(prodConfiguration(provider.baseUrl)));
  writePrices(side, '2025-10-17');
  await side.run(['import-prices', '--as', 'raw', 'prices.csv', 'NVDA.csv', 'dividends.csv']);
  const env = {
    LOG_LEVEL: 'INFO',
    AUTO_DOWNLOAD_PRICE_DATA: 'false',
    OPENAI_API_KEY: 'sk-other-0123456789',
  };
  const stopped = provider.hold('responses', '2025-10-08');
  const first = await side.serve([], env);
  const { job_id: job } = await post(first, { start_date: '2025-10-06', end_date: '2025-10-10' });
  await stopped.reached();
  // A moment in the middle, which the provider holds: the job runs, and a session is open.
  const open = '/reasoning?include_full_conversation=true&date=2025-10-08';
  for (const path of [
    `/simulate/status/${job}`,
    '/jobs',
    open,
    '/results?date=2025-10-07',
    '/decisions',
  ])
    await first.ask(path);
  await post(first, { end_date: '2025-10-10' });
  await first.stop();
  stopped.release();
  const server = await side.serve([], env);
  await ended(server, job);
  const cancelled = provider.hold('messages', '2025-10-15');
  const models = ['chat', 'messages', 'buy-and-hold'];
  const { job_id: second } = await post(server, {
    start_date: '2025-10-13',
    end_date: '2025-10-16',
    models,
  });
  await cancelled.reached();
  for (const id of [second, second, job, 'no-such-job'])
    await server.ask(`/simulate/cancel/${id}`, { method: 'POST' });
  cancelled.release();
  await ended(server, second);
  await runJob(server, {
    start_date: '2025-10-06',
    end_date: '2025-10-07',
    models: ['chat', 'faulty'],
    replace_existing: true,
  });
  await runJob(server, { end_date: '2025-10-16', models: ['chat', 'chat-stream', 'buy-and-hold'] });
  await runJob(server, { end_date: '2025-10-16', models: ['nothing-to-buy'], universe: 'unknown' });
  const third = await runJob(server, {
    start_date: '2025-10-06',
    end_date: '2025-10-08',
    models: ['chat', 'buy-and-hold'],
    replace_existing: true,
  });
  for (const id of [third, third, 'no-such-job'])
    await server.ask(`/jobs/${id}`, { method: 'DELETE' });
  await server.stop();
  await downloads(side, env);
  const known: Known = {
    job,
    models: ['chat', 'messages', 'faulty'],
    first: '2025-10-07',
    last: '2025-10-10',
  };
  const last = await side.serve([], { ...env, API_TOKEN: 'a-token-of-the-story' });
  await last.ask('/jobs');
  await last.stop();
  const calm = await side.serve([], env);
  await sweep(calm, known);
  await calm.stop();
  await files(side, { job, known, env: {} });
}

/** Prices, splits and dividends from two providers on loopback: by commands, and by a job. */
async function downloads(side: Side, env: Record<string, string>): Promise<void> {
  const symbols = ['AAPL', 'MSFT', 'KO', 'NVDA', 'QQQ'];
  const answers = {
    prices: tableOf(symbols, '2025-10-01', '2025-10-31'),
    dividends: 'KO 2025-10-21 0.5\nMSFT 2025-10-22 0.9',
  };
  const plan = { from: '2025-10-15', to: '2025-10-30' };
  const massive = await startMassiveServer(side.t, {
    ...answers,
    splits: 'AAPL 2025-10-22 1 2',
    plan,
  });
  const vantage = await startPriceServer(side.t, { ...answers, splits: 'AAPL 2025-10-22 2' });
  const keys = {
    MASSIVE_API_KEY: MASSIVE_KEY,
    MASSIVE_BASE_URL: massive.url,
    PRICE_HISTORY_DAYS: '2',
  };
  const other = {
    ALPHAADVANTAGE_API_KEY: 'vantage-0123456789',
    ALPHAVANTAGE_BASE_URL: vantage.url,
  };
  const range = ['download-prices', '--from', '2025-10-20', '--to', '2025-10-21'];
  await side.run(range);
  await side.run([...range, '--symbols', 'MSFT,ZZZZ'], other);
  await side.run([...range, '--dividends', '--symbols', 'AAPL,KO'], other);
  await side.run([...range, '--limit', '1'], keys);
  await side.run([...range, '--symbols', 'AAPL,APPL'], keys);
  await side.run(['download-prices', '--from', '2025-10-22', '--to', '2025-10-20'], keys);
  const server = await side.serve([], {
    ...env,
    ...keys,
    ...other,
    AUTO_DOWNLOAD_PRICE_DATA: 'true',
  });
  await runJob(server, {
    start_date: '2025-10-20',
    end_date: '2025-10-23',
    models: ['chat', 'buy-and-hold'],
  });
  await server.stop();
  side.note(
    'requests to the price providers',
    [...massive.requests, ...vantage.requests].join('\n'),
  );
}

/** Its dates are those before today, so both programs have to play on one day. */
async function demo(side: Side): Promise<void> {
  side.enter('demo');
  side.write(
    'configs/default_config.json',
    JSON.stringify({ ...devConfiguration, models: devConfiguration.models.slice(0, 2) }),
  );
  const server = await side.serve(['demo']);
  await server.stop('SIGINT');
}
