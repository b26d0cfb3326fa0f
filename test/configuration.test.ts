import assert from 'node:assert/strict';
import { US } from '../src/core/domain/market-rules.ts';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findBaseline } from '../src/core/settings/configuration-schema.ts';
import { nasdaq100 } from '../src/core/settings/default-symbols.ts';
import {
  agentConfigurationFor,
  parseAgentConfiguration,
  parseConfiguration,
  readConfiguration,
  warnOfContent,
} from '../src/core/settings/configuration.ts';
import { like, tableOf } from './support/text-table.ts';
import { temporaryFolder } from './support/folder.ts';

const DEFAULTS = {
  market: US,
  ...{ max_steps: 30, max_retries: 3, base_delay: 1, initial_cash: 10_000, dividends: true },
  ...{ commission_per_trade: 0, commission_bps: 0, slippage_bps: 0 },
  ...{ min_commission: 0, sell_tax_bps: 0 },
  ...{ max_cost_usd: null, stock_symbols: nasdaq100, open: 'shown', limits: null },
};

test('a configuration of the AI-Trader family loads unchanged', () => {
  const { models, agent_config } = parseConfiguration(ofFamily, 'file');
  const enabled = models.map((model) => `${model.signature} ${model.enabled}`);
  assert.deepEqual(enabled, ['a true', 'minimal false']);
  assert.deepEqual(agent_config, {
    ...DEFAULTS,
    max_steps: 20,
    base_delay: 0.5,
    initial_cash: 5000,
  });
});

test('a file may begin with a byte order mark, as Windows editors write it', () => {
  const path = join(temporaryFolder(), 'config.json');
  writeFileSync(path, '\ufeff{"models":[{"signature":"a"}]}');
  const signatures = readConfiguration(path).models.map(({ signature }) => signature);
  assert.deepEqual(signatures, ['a']);
});

test('missing values have their defaults, and the universe is the NASDAQ-100', () => {
  const { agent_config } = parseConfiguration({ models: [] }, 'file');
  assert.deepEqual(agent_config, DEFAULTS);
  assert.equal(nasdaq100.length, 101);
});

test('universes: lists of symbols by name, one of which takes the place of stock_symbols', () => {
  const universes = { control: ['qxkzva', 'BRK-B', 'QXKZVA'], 'S&P mini': ['SPY'] };
  const configuration = parseConfiguration(
    { models: [], agent_config: { max_steps: 7 }, universes },
    'file',
  );
  assert.deepEqual(configuration.universes, { control: ['QXKZVA', 'BRK-B'], 'S&P mini': ['SPY'] });
  const byDefault = { ...configuration.agent_config, stock_symbols: nasdaq100 };
  assert.deepEqual(
    agentConfigurationFor(configuration, null, 'file'),
    byDefault,
    'a job stores its symbols: a later default changes no old job',
  );
  const chosen = agentConfigurationFor(configuration, 'control', 'file');
  assert.deepEqual(chosen, { ...configuration.agent_config, stock_symbols: ['QXKZVA', 'BRK-B'] });
  for (const name of ['CONTROL', 'toString', ''])
    assert.throws(() => agentConfigurationFor(configuration, name, 'file'), {
      code: 'unknown_universe',
      message: `Universe '${name}' is not in the server configuration: it names control, S&P mini`,
    });
  const without = parseConfiguration({ models: [] }, 'file');
  assert.throws(() => agentConfigurationFor(without, 'x', 'file'), { message: /: it names none$/ });
});

const tooMany = Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`u${n}`, ['A']]));
const brokenUniverses: [universes: unknown, problem: string][] = [
  [['AAPL'], ': expected Object, got array'],
  [{ control: [] }, '.control: must be >=1…'],
  [{ control: ['AAPL', 'a b'] }, '.control[1]: is not a ticker symbol'],
  [{ control: 'members.csv' }, '.control: expected Array, got string'],
  [
    { control: { members: 'a', more: 1 } },
    '.control.more: is not a key of a universe, which has only "members"',
  ],
  [
    { control: { member: 'a' } },
    '.control.members: is missing; universes.control.member: is not a key…',
  ],
  [{ ' ': ['AAPL'] }, '. : must not be empty'],
  [tooMany, ': must not name more than 200…'],
];
test('universes that are not lists of symbols by name are refused', () => {
  for (const [universes, problem] of brokenUniverses)
    assert.throws(() => parseConfiguration({ models: [], universes }, 'file'), {
      code: 'broken_configuration',
      message: like(`…: universes${problem}`),
    });
});

test('a basemodel, or otherwise a signature, names a baseline', () => {
  const models = [
    { signature: 'a', basemodel: 'baseline/momentum' },
    { signature: 'baseline/random' },
    { signature: 'b', basemodel: 'openai/baseline/random' },
    { signature: 'baseline', basemodel: '' },
  ];
  const baselines = parseConfiguration({ models }, 'file').models.map(findBaseline);
  assert.deepEqual(baselines, ['momentum', 'random', null, null]);
});

test('symbols are normalised, without duplicates; a token may cost a dollar, and dividends may be left out', () => {
  const price_per_million_tokens = { input: 1_000_000, output: 1 };
  const stock_symbols = ['aapl', 'BRK-B', '600519.SH', 'AAPL '];
  const { models, agent_config } = parseConfiguration(
    {
      models: [{ signature: 'a', price_per_million_tokens }],
      agent_config: { stock_symbols, dividends: false },
    },
    'file',
  );
  assert.deepEqual(models[0]?.price_per_million_tokens, price_per_million_tokens);
  assert.deepEqual(agent_config.stock_symbols, ['AAPL', 'BRK-B', '600519.SH']);
  assert.equal(agent_config.dividends, false);
});

test('a prompt comes from the entry or from a file beside the configuration; one that cannot be read is an error', () => {
  const folder = temporaryFolder();
  const path = join(folder, 'config.json');
  const prompts = join(folder, 'prompts');
  mkdirSync(prompts);
  const longest = '🙂'.repeat(20_000);
  writeFileSync(join(prompts, 'bold.txt'), `\ufeff${longest}`);
  writeFileSync(join(prompts, 'long.txt'), `${longest}x`);
  writeFileSync(join(prompts, 'huge.txt'), 'x'.repeat(100_000));
  writeFileSync(join(prompts, 'latin.txt'), Buffer.from([0xe9, 0x20]));
  const read = (entry: object) => {
    const models = [{ signature: 'a' }, { signature: 'b', ...entry }];
    writeFileSync(path, JSON.stringify({ models }));
    return readConfiguration(path).models[1]?.prompt;
  };
  assert.equal(read({ prompt: 'Be bold.' }), 'Be bold.');
  assert.equal(read({ prompt: '', prompt_file: 'prompts/bold.txt' }), longest);
  assert.equal(read({ prompt: null, prompt_file: '' }), null);
  const [tooLong, foreign] = ['more than 20000', 'is not UTF-8 text'];
  const refused = { absent: 'there is no file', long: tooLong, huge: tooLong, latin: foreign };
  for (const [name, problem] of Object.entries(refused))
    assert.throws(() => read({ prompt_file: `prompts/${name}.txt` }), {
      message: like(`…config.json: models['b'].prompt_file: …${problem}…`),
    });
});

test('a file is parsed and checked once while it stays the same; an edit of it or of a prompt counts at the next request', () => {
  const folder = temporaryFolder();
  const path = join(folder, 'config.json');
  const models = ['a', 'b', 'c'].map((signature) => ({
    signature,
    ...(signature !== 'a' && { prompt_file: `${signature}.txt` }),
  }));
  const write = (file: string, text: string) => writeFileSync(join(folder, file), text);
  const prompts = () => readConfiguration(path).models.map(({ prompt }) => prompt ?? null);
  write('config.json', JSON.stringify({ models }));
  write('b.txt', 'Be bold.');
  assert.throws(prompts, /there is no file .*c\.txt/);
  write('c.txt', 'Be calm.');
  const first = readConfiguration(path);
  assert.deepEqual(prompts(), [null, 'Be bold.', 'Be calm.']);
  assert.equal(readConfiguration(path).models[0], first.models[0]);
  write('c.txt', 'Be cool.');
  assert.deepEqual(prompts(), [null, 'Be bold.', 'Be cool.']);
  const kept = first.models.map(({ prompt }) => prompt ?? null);
  assert.deepEqual(kept, [null, 'Be bold.', 'Be calm.'], 'who read it before keeps what it read');
  write('b.txt', 'x'.repeat(100_000));
  assert.throws(prompts, /more than 20000/);
  write('b.txt', 'Be kind.');
  assert.deepEqual(prompts(), [null, 'Be kind.', 'Be cool.']);
  const twice = '{"models":[{"signature":"a"},{"signature":"a"}]}';
  for (const broken of ['{', '{"models":[{}]}', twice]) {
    write('config.json', broken);
    for (const time of ['first', 'second'])
      assert.throws(prompts, { code: 'broken_configuration' }, `the ${time} time`);
  }
  write('config.json', JSON.stringify({ models: models.slice(0, 2) }));
  assert.deepEqual(prompts(), [null, 'Be kind.']);
  rmSync(path);
  assert.throws(prompts, /not found/);
});

test('the same text in another folder has the prompts of that folder', () => {
  const paths = ['one', 'two'].map((name) => {
    const path = join(temporaryFolder(), 'config.json');
    writeFileSync(join(path, '../own.txt'), name);
    writeFileSync(path, '{"models":[{"signature":"a","prompt_file":"own.txt"}]}');
    return path;
  });
  const prompts = [...paths, ...paths].map((path) => readConfiguration(path).models[0]?.prompt);
  assert.deepEqual(prompts, ['one', 'two', 'one', 'two']);
});

test('a configuration that requests share cannot be changed at any depth', () => {
  const path = join(temporaryFolder(), 'config.json');
  writeFileSync(join(path, '../p.txt'), 'Be bold.');
  const models = [
    { signature: 'a', extra_body: { provider: { order: ['x'] } } },
    { signature: 'b', prompt_file: 'p.txt' },
  ];
  const lists = { universes: { few: ['AAPL'] }, agent_config: { stock_symbols: ['MSFT'] } };
  writeFileSync(path, JSON.stringify({ models, ...lists }));
  const configuration = readConfiguration(path);
  const notFrozen: string[] = [];
  const look = (value: unknown, place: string) => {
    if (typeof value !== 'object' || value === null) return;
    if (!Object.isFrozen(value)) notFrozen.push(place);
    for (const [key, part] of Object.entries(value)) look(part, `${place}.${key}`);
  };
  look(configuration, 'configuration');
  assert.deepEqual(notFrozen, []);
});

test('repeats whose names are free are accepted, of the random baseline too', () => {
  const entries = [
    { signature: 'a', repeats: 2 },
    { signature: 'a#3' },
    { signature: 'b#2', repeats: null },
    { signature: 'b' },
    { signature: 'c', basemodel: 'baseline/random', repeats: 100 },
    { signature: '#'.repeat(197), repeats: 9 },
  ];
  const { models } = parseConfiguration({ models: entries }, 'file');
  const counts = models.map(({ repeats }) => repeats);
  assert.deepEqual(counts, [2, 1, 1, 1, 100, 9]);
});

/** What is wrong with an entry that follows a good one. */
const wrongEntries = tableOf<[entry: string, problem: string]>(`
  {}                                                 | .signature: is missing
  {"signature":" "}                                  | .signature: must not be empty
  {"signature":"b\\u001b[31m"}                       | .signature: must not contain a control character (U+001B)
  {"signature":"b","enabled":"yes"}                  | .enabled: expected boolean, got string
  {"signature":"b","basemodel":"baseline/hodl"}      | .basemodel: must be one of baseline/buy-and-hold, baseline/equal-weight, baseline/momentum, baseline/random, baseline/cash
  {"signature":"baseline/Random","basemodel":""}     | .signature: must be one of baseline/buy-and-hold…
  {"signature":"b","prompt":"x","prompt_file":"x.t"} | : has both prompt and prompt_file; keep one
  {"signature":"b","prompt":"${'🙂'.repeat(20_001)}"} | .prompt: must not be longer than 20000 characters
  {"signature":"b","knowledge_cutoff":"2025-02-30"}  | .knowledge_cutoff: must be a date YYYY-MM-DD
  {"signature":"b","repeats":0}                      | .repeats: must be >=1…
  {"signature":"b","repeats":2.5}                    | .repeats: must be a whole number
  {"signature":"b","repeats":101}                    | .repeats: must be <=100…
  {"signature":"a#2"}                                | .signature: is the name of a repeat of 'a' as well
  {"signature":"b","basemodel":"baseline/momentum","repeats":2} | .repeats: must be 1: every run of baseline/momentum would do the same
  {"signature":"${'b'.repeat(198)}","repeats":10}    | .signature: leaves no room for '#10' in the names of its repeats
  {"signature":"b","price_per_million_tokens":{"input":1e308,"output":1}} | .price_per_million_tokens.input: must be <=1000000…
  {"signature":"b","api":"agent"}                    | .agent_url: "api": "agent" needs the URL of the agent…
  {"signature":"b","api":"agent","agent_url":"http://127.0.0.1:0/"} | .agent_url: must not have port 0
  {"signature":"b","openai_base_url":"http://a:00/"} | .openai_base_url: must not have port 0
  {"signature":"b","tools":["sell"]}                 | .tools: must include buy; the tools are buy, sell, rebalance, get_price…
  {"signature":"b","tools":[]}                       | .tools: must include buy…
  {"signature":"b","tools":["buy","trade"]}          | .tools[1]: must be one of buy, sell, rebalance, get_price…
  {"signature":"b","extra_body":[]}                  | .extra_body: expected Object, got array`);
const wrong = tableOf<[content: string, problem: string]>(`
  {}                                                        | models: is missing
  {"models":{}}                                             | models: expected Array, got object
  {"models":[{"signature":"a"},{"signature":"a"}]}          | models: lists the signature 'a' twice
  {"models":[],"agent_config":[]}                           | agent_config: expected Object, got array
  {"models":[],"agent_config":{"open":"seen"}}              | agent_config.open: must be shown or hidden…
  {"models":[],"agent_config":{"limits":[]}}                | agent_config.limits: expected Object, got array
  {"models":[],"agent_config":{"limits":{"max_weight":0}}}  | agent_config.limits.max_weight: must be >0…
  {"models":[],"agent_config":{"limits":{"max_weight":1.1}}} | agent_config.limits.max_weight: must be <=1…
  {"models":[],"agent_config":{"limits":{"min_cash":1}}}    | agent_config.limits.min_cash: must be <1…
  {"models":[],"agent_config":{"limits":{"max_orders":0}}}  | agent_config.limits.max_orders: must be >=1…
  {"models":[],"agent_config":{"limits":{"max_orders":1.5}}} | agent_config.limits.max_orders…
  {"models":[],"agent_config":{"dividends":"no"}}           | agent_config.dividends: expected boolean, got string
  {"models":[],"agent_config":{"max_steps":0}}              | agent_config.max_steps: must be >=1…
  {"models":[],"agent_config":{"initial_cash":0.00001}}     | agent_config.initial_cash: must be at least 0.0001
  {"models":[],"agent_config":{"initial_cash":-1}}          | agent_config.initial_cash: must be >0…
  {"models":[],"agent_config":{"stock_symbols":["../etc"]}} | agent_config.stock_symbols[0]: is not a ticker…`);
test('an error names the path in the file', () => {
  for (const [entry = '', problem = ''] of wrongEntries) {
    const { signature } = JSON.parse(entry);
    const which = !signature || problem.startsWith('.signature: must not') ? 1 : `'${signature}'`;
    wrong.push([
      `{"models":[{"signature":"a","repeats":2},${entry}]}`,
      `models[${which}]${problem}`,
    ]);
  }
  for (const [content, problem] of wrong)
    assert.throws(
      () => parseConfiguration(JSON.parse(content), 'configs/x.json'),
      { code: 'broken_configuration', message: like(`…configs/x.json: ${problem}`) },
      content.slice(0, 100),
    );
});

test('a URL or key that says it is optional, or whose it is to be, counts as absent', () => {
  const path = join(temporaryFolder(), 'config.json');
  const placeholders = {
    openai_base_url: 'Optional: YOUR_OPENAI_BASE_URL,you can write them in .env file',
    openai_api_key: ' YOUR_OPENAI_API_KEY',
  };
  const write = (models: object[]) => writeFileSync(path, JSON.stringify({ models }));
  write([
    { signature: 'a' },
    { signature: 'b', ...placeholders },
    { signature: 'c', openai_api_key: 'sk-YOUR_' },
  ]);
  const configuration = readConfiguration(path);
  const addresses = configuration.models.map(
    ({ openai_base_url, openai_api_key }) => `${openai_base_url} ${openai_api_key}`,
  );
  assert.deepEqual(addresses, ['undefined undefined', ' ', 'undefined sk-YOUR_']);
  const said: unknown[] = [];
  const log = {
    warning: (message: string, fields?: object) =>
      void said.push(fields && 'fields' in fields ? fields.fields : message),
  };
  const warnTwice = () => {
    said.length = 0;
    for (const _ of ['first', 'second']) warnOfContent(readConfiguration(path), log);
    return said;
  };
  const fields = "models['b'].openai_base_url, models['b'].openai_api_key";
  assert.deepEqual(warnTwice(), [fields], 'said once');
  write([{ signature: 'b', ...placeholders }]);
  assert.deepEqual(warnTwice(), [fields], 'and again for other content');
  writeFileSync(path, JSON.stringify({ models: [], modles: [] }));
  const unknown = 'Unknown keys in the configuration are ignored: modles (did you mean "models"?)';
  assert.deepEqual(warnTwice(), [unknown]);
});

/** Keys of public configurations of the family, with the blocks that only other programs read. */
const ofFamily = {
  agent_type: 'BaseAgentCrypto',
  market: 'crypto',
  environment: 'local',
  description: 'paper trading',
  date_range: { init_date: '2025-10-01', end_date: '2025-10-21', comment: 'weekdays' },
  use_today: true,
  models: [
    {
      ...{ signature: 'a', name: 'A', basemodel: 'openai/a', model: 'a', enabled: true },
      ...{ openai_base_url: null, openai_api_key: null, anthropic_api_key: 'Optional: YOUR_KEY' },
      ...{ api_provider: 'openai', priority: 1, theme: 'semiconductors', comment: 'free' },
    },
    { signature: 'minimal' },
  ],
  agent_config: {
    ...{ max_steps: 20, max_retries: 3, base_delay: 0.5, initial_cash: 5000.0, verbose: true },
    ...{ memory_lookback_days: 5, recursion_limit: 300, disabled_tools: ['search'] },
  },
  crypto_config: { exchanges: ['one'], testnet: true },
  log_config: { log_path: './data', log_level: 'DEBUG', save_intermediate_steps: true },
};

const typingErrors = {
  agent_cfg: { max_cost: 1 },
  models: [
    { signature: 'a', base_model: 'b', temprature: 1 },
    { signature: 'b', price_per_million_tokens: { input: 1, output: 1, cached: 1 } },
  ],
  agent_config: { max_cost: 1, maxSteps: 3, constructor: 1, qqqqq: 1 },
  date_range: { init: '2025-10-01' },
};
const found = `
  agent_cfg (did you mean "agent_config"?)
  models['a'].base_model (did you mean "basemodel"?)
  models['a'].temprature (did you mean "temperature"?)
  models['b'].price_per_million_tokens.cached (did you mean "cached_input"?)
  agent_config.max_cost (did you mean "max_cost_usd"?)
  agent_config.maxSteps (did you mean "max_steps"?)
  agent_config.constructor
  agent_config.qqqqq
  date_range.init (did you mean "init_date"?)`;
const models = [{ signature: 'a', _why: {}, extra_body: { x: 1 } }];
const OF_JOB = '`agent_config` and holds for the whole job';
const elsewhere = {
  models: [{ signature: 'a', open: 'hidden', input: 1 }],
  agent_config: { repeats: 2, universes: {} },
  max_cost_usd: 3,
};
const belongs = [
  `models['a'].open (\`open\` belongs to ${OF_JOB})`,
  "models['a'].input (`input` belongs to `models[].price_per_million_tokens`)",
  'agent_config.repeats (`repeats` belongs to `models[]`)',
  'agent_config.universes (`universes` belongs to the top level)',
  `max_cost_usd (\`max_cost_usd\` belongs to \`models[]\` or \`agent_config\`)`,
];
const strange = ['\u001b[2J'.repeat(100), ...Array.from({ length: 20 }, (_, n) => `zzzzz${n}`)];
const keys: [name: string, content: object, keys: string | RegExp | null][] = [
  ['a configuration of the family', ofFamily, null],
  ['comments', { $schema: 'x', _note: '', models, agent_config: { $x: 1 } }, null],
  ['keys that are anything', { universes: { tech: ['A'] }, models }, null],
  ['keys of another block', elsewhere, belongs.join(', ')],
  ['no object', { models: [], agent_cfg: null }, 'agent_cfg (did you mean "agent_config"?)'],
  ['typing errors at every level', typingErrors, found.trim().split(/\n */).join(', ')],
  [
    'long and unprintable keys, and many',
    { models: [], ...Object.fromEntries(strange.map((key) => [key, 1])) },
    /^(\[2J ){2}.{290,310}…, (zzzzz\d, ){8}zzzzz8 and 11 more$/,
  ],
];
for (const [name, content, words] of keys)
  test(`keys that no program reads are a warning with their places: ${name}`, () => {
    const { unknownKeys } = parseConfiguration(content, 'file');
    if (words === null) return assert.deepEqual(unknownKeys, []);
    const start = 'Unknown keys in the configuration are ignored: ';
    const [warning = '', ...others] = unknownKeys;
    assert.deepEqual([warning.slice(0, start.length), others], [start, []]);
    if (typeof words === 'string') assert.equal(warning.slice(start.length), words);
    else assert.match(warning.slice(start.length), words);
  });

/** Where a limit is set that is not in force, and what is said of it. */
const idleLimits = tableOf<[content: string, problem: string]>(`
  {"agent_config":{"limits":{"max_wieght":0.1}}} | agent_config.limits.max_wieght: sets no limit (did you mean "max_weight"?)
  {"agent_config":{"limits":{"maxWeight":null}}} | agent_config.limits.maxWeight: sets no limit (did you mean "max_weight"?)
  {"agent_config":{"limits":{"stop_loss":0.1}}}  | agent_config.limits.stop_loss: sets no limit (the limits are max_weight, max_orders, min_cash)
  {"agent_config":{"limit":{"max_orders":1}}}    | agent_config.limit: sets no limit (did you mean "limits"?)
  {"agent_config":{"max_orders":1}}              | agent_config.max_orders: sets no limit (\`max_orders\` belongs to \`agent_config.limits\` and holds for the whole job)
  {"limits":{"max_orders":1}}                    | limits: sets no limit (\`limits\` belongs to \`agent_config\` and holds for the whole job)
  {"agent_config":{"max_wieght":0.1}}            | agent_config.max_wieght: sets no limit (did you mean "max_weight"?)
  {"limts":{"max_orders":1}}                     | limts: sets no limit (did you mean "limits"?)
  {"models":[{"signature":"a","min_csh":0.1}]}   | models['a'].min_csh: sets no limit (did you mean "min_cash"?)
  {"models":[{"signature":"a","min_cash":0.1}]}  | models['a'].min_cash: sets no limit (\`min_cash\` belongs to \`agent_config.limits\` and holds for the whole job)
`);
test('a limit that would not be in force is an error, not a warning', () => {
  for (const [content, problem] of idleLimits)
    assert.throws(() => parseConfiguration({ models: [], ...JSON.parse(content) }, 'file'), {
      code: 'broken_configuration',
      message: `Cannot use the server configuration file: ${problem}`,
    });
  const commented = { models: [], agent_config: { limits: { _why: 'caution', max_orders: 2 } } };
  assert.equal(parseConfiguration(commented, 'file').agent_config.limits?.max_orders, 2);
});

test('a job that was stored with less cash than is allowed now can still be read', () => {
  assert.equal(parseAgentConfiguration('{"initial_cash":0.00001}').initial_cash, 0.00001);
});

test('an error never repeats a value, which may be a key', () => {
  const path = join(temporaryFolder(), 'config.json');
  const broken = [
    '{ "models": [ { "openai_api_key": "sk-secret" "x" } ] }',
    'sk-secret',
    '{"models":[{"signature":"a","openai_api_key":["sk-secret"]}]}',
  ];
  for (const text of broken) {
    writeFileSync(path, text);
    assert.throws(
      () => readConfiguration(path),
      (error: Error) => !error.message.includes('secret') && error.message.includes('config.json'),
    );
  }
});

test('a missing file and a broken one have different errors', () => {
  const path = join(temporaryFolder(), 'config.json');
  const reading = () => readConfiguration(path);
  assert.throws(reading, /Server configuration file not found: .*config\.json/);
  const latin = Buffer.from('caf\xe9', 'latin1');
  for (const [content, problem] of [
    ['{', /it is not JSON \(line 1 column 2\)/],
    ['{\n  "models": [\n    { "signature": NaN }\n  ]\n}', /it is not JSON \(line 3 column 20\)$/],
    [latin, /Cannot read the server configuration .*: it is not UTF-8 text$/],
  ] as const) {
    writeFileSync(path, content);
    assert.throws(reading, problem);
  }
});

test('the default configuration is valid and enables models', () => {
  const text = readFileSync(new URL('../configs/default_config.json', import.meta.url), 'utf8');
  const shipped = parseConfiguration(JSON.parse(text), 'default');
  assert.ok(shipped.models.filter(({ enabled }) => enabled).length >= 3);
  assert.deepEqual(shipped.unknownKeys, []);
});
