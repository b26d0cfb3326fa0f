import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { realAgentHere } from '../support/agent-here.ts';
import { noLimits } from '../support/disk.ts';
import { runInProcess } from '../support/in-process.ts';
import { installProgram } from '../support/program.ts';
import { ledgerOf } from '../support/ledger.ts';
import { leftToLongForm } from '../support/long.ts';
import { ORACLE_PYTHON, withoutPackages } from '../support/oracle.ts';
import {
  answers,
  type Behaviour,
  says,
  startModelServer,
  whereIs,
} from '../support/model-server.ts';
import { startProdService } from '../support/prod.ts';
import { temporaryFolder } from '../support/folder.ts';

/** The command `export conversations`. */

const DATES = { start_date: '2025-10-06', end_date: '2025-10-07' };
const call = (id: string, name: string, text: string) => {
  return { id, type: 'function', function: { name, arguments: text } };
};

/** Several calls in a message, a refused one, one that cannot be read, words and thoughts beside them. */
const trade: Behaviour = (request) => {
  const { date, step } = whereIs(request);
  const buy = (symbol: string, amount: number) => JSON.stringify({ symbol, amount });
  if (step === 1)
    return answers({
      content: `I buy on ${date}.`,
      reasoning_content: 'Both look cheap.',
      tool_calls: [
        call('a-1', 'buy', buy('AAPL', 3)),
        call('a-2', 'buy', buy('MSFT', 1_000_000)),
        call('a-3', 'buy', buy('MSFT', 2)),
      ],
    });
  if (step === 2)
    return answers({ content: null, tool_calls: [call('b-1', 'sell', '{"symbol": "AAPL"')] });
  return says('Done for the day.');
};

/** A service whose database is where the command looks for it, with its job completed. */
async function ranWith(t: TestContext, behaviour: Behaviour) {
  const cwd = temporaryFolder();
  mkdirSync(join(cwd, 'data'));
  const { baseUrl, requests } = await startModelServer(t, behaviour);
  const service = await startProdService(t, {
    agent: await realAgentHere(),
    folder: cwd,
    settings: { databasePath: join(cwd, 'data/jobs.db') },
    models: [{ signature: 'gpt-x', openai_base_url: baseUrl, repeats: 2 }],
  });
  const { status, job_id: job } = await service.runJob(DATES);
  assert.equal(status, 'completed');
  return { cwd, service, requests, job };
}

async function exported(cwd: string, ...options: string[]): Promise<any[]> {
  const file = `days-${readdirSync(cwd).length}.jsonl`;
  const args = ['export', 'conversations', file, ...options];
  const { code, stdout, stderr } = await runInProcess(args, { cwd });
  assert.deepEqual([code, stderr], [0, '']);
  const lines = readFileSync(join(cwd, file), 'utf8').trimEnd().split('\n');
  assert.equal(stdout, `${file}: ${lines.length} model-day${lines.length === 1 ? '' : 's'}\n`);
  return lines.map((line) => JSON.parse(line));
}

test('a line has what the model read and said, and beside it the day; sent back, it makes the same day', async (t) => {
  const { cwd, service, requests, job } = await ranWith(t, trade);
  const days = await exported(cwd);
  assert.deepEqual(
    days.map(({ metadata }) => metadata),
    ['2025-10-06', '2025-10-07'].flatMap((date) =>
      ['gpt-x', 'gpt-x#2'].map((model) => {
        const own = days.find(({ metadata: one }) => one.date === date)?.metadata.return;
        assert.ok(Math.abs(own) < 0.1 && own !== 0);
        return {
          model,
          entry: 'gpt-x',
          study: null,
          date,
          job_id: job,
          served: ['test'],
          return: own,
        };
      }),
    ),
  );
  // What was sent last on a day, and the answer to it, are the whole conversation.
  const [day] = days;
  const last = requests.findLast((request) => whereIs(request).date === '2025-10-06');
  const plain = (messages: any[]) =>
    messages.map(({ role, content, tool_calls, tool_call_id }) => {
      const names = tool_calls?.map(({ id, function: { name } }: any) => `${id} ${name}`);
      return { role, content: content ?? '', names, tool_call_id };
    });
  assert.deepEqual(plain(day.messages), [
    ...plain(last?.body.messages),
    { role: 'assistant', content: 'Done for the day.', names: undefined, tool_call_id: undefined },
  ]);
  assert.equal(day.messages[6].tool_calls[0].function.arguments, '{"symbol": "AAPL"');
  const again: Behaviour = (request) => {
    const { date, step } = whereIs(request);
    const own = days.find(({ metadata }) => metadata.date === date);
    const said = own.messages.filter(({ role }: any) => role === 'assistant');
    return answers(said[step - 1]);
  };
  const second = await ranWith(t, again);
  assert.deepEqual(ledgerOf(second.service.database, 'gpt-x'), ledgerOf(service.database, 'gpt-x'));
  const messagesIn = (lines: any[]) => lines.map(({ messages }) => messages);
  assert.deepEqual(messagesIn(await exported(second.cwd)), messagesIn(days));
});

test('filters choose the model-days; reasoning is added on request', async (t) => {
  const { cwd, job } = await ranWith(t, trade);
  const chosen: [options: string, days: number][] = [
    ['--models gpt-x#2', 2],
    ['--models gpt-x --start 2025-10-07', 2],
    [`--job ${job} --end 2025-10-06`, 2],
  ];
  for (const [options, count] of chosen)
    assert.equal((await exported(cwd, ...options.split(' '))).length, count, options);
  const thoughts = (day: any) => day.messages.map(({ reasoning_content: own }: any) => own);
  const [without] = await exported(cwd);
  const [withThem] = await exported(cwd, '--with-reasoning');
  assert.deepEqual([...new Set(thoughts(without))], [undefined]);
  assert.deepEqual([...new Set(thoughts(withThem))], [undefined, 'Both look cheap.']);
  writeFileSync(join(cwd, 'there.jsonl'), 'mine');
  const refused: [args: string, code: number, words: RegExp][] = [
    ['prices x.jsonl', 2, /unknown export prices; the only one is conversations/],
    ['conversations', 2, /missing/],
    ['conversations there.jsonl', 1, /Cannot write there\.jsonl: the file already exists/],
    ['conversations no/x.jsonl', 1, /the folder no does not exist/],
    ['conversations x.jsonl --job unknown', 1, /Job unknown not found/],
    ['conversations x.jsonl --models unknown', 1, /unknown/],
  ];
  const before = readdirSync(cwd).sort();
  for (const [args, code, words] of refused) {
    const ended = await runInProcess(['export', ...args.split(' ')], { cwd });
    assert.deepEqual([ended.code, ended.stdout], [code, ''], args);
    assert.match(ended.stderr, words);
  }
  assert.deepEqual(readdirSync(cwd).sort(), before);
});

// An export leaves nothing, and what is printed says so.
test('a file that the system cuts short is an error', { skip: noLimits }, async () => {
  const cwd = installProgram();
  mkdirSync(join(cwd, 'data'));
  copyFileSync('docs/demo-package.db', join(cwd, 'data/jobs.db'));
  const args = ['export', 'conversations', 'days.jsonl'];
  assert.equal((await runInProcess(args, { cwd })).code, 0);
  const { size } = statSync(join(cwd, 'days.jsonl'));
  rmSync(join(cwd, 'days.jsonl'));
  const before = readdirSync(cwd);
  for (const [command, bytes] of [
    [args.join(' '), size - 10],
    ['--help', 1_000],
  ] as const) {
    const script = `prlimit --fsize=${bytes} ${process.execPath} server.js ${command} > printed`;
    const { status, stderr } = spawnSync('sh', ['-c', script], { cwd, encoding: 'utf8' });
    assert.deepEqual([status, stderr], [1, 'Cannot continue: EFBIG: file too large, write\n']);
    rmSync(join(cwd, 'printed'));
  }
  assert.deepEqual(readdirSync(cwd), before);
});

const READERS: [name: string, script: string][] = [
  [
    'pandas',
    `import pandas, sys
table = pandas.read_json(sys.argv[1], lines=True)
roles = [message["role"] for message in table["messages"][0]]
print(len(table), pandas.json_normalize(table["metadata"])["return"].dtype, *roles)`,
  ],
  [
    'inspect_ai',
    `import asyncio, json, sys
from inspect_ai.dataset import FieldSpec, json_dataset
from inspect_ai.model import messages_from_openai
days = [json.loads(line) for line in open(sys.argv[1])]
samples = json_dataset(sys.argv[1], lambda day: __import__("inspect_ai.dataset").dataset.Sample(
  input=asyncio.run(messages_from_openai(day["messages"])), metadata=day["metadata"]))
print(len(samples), type(samples[0].metadata["return"]).__name__ + "64", *[message.role for message in samples[0].input])
assert samples[0].input[2].tool_calls[1].arguments == {"symbol": "MSFT", "amount": 1000000}`,
  ],
];

for (const [name, script] of READERS) {
  const skip = leftToLongForm || withoutPackages(name);
  test(`${name} reads the lines as they are`, { skip }, async (t) => {
    const { cwd } = await ranWith(t, trade);
    await exported(cwd);
    const file = readdirSync(cwd).find((path) => path.endsWith('.jsonl')) ?? '';
    const options = { cwd, encoding: 'utf8' } as const;
    const { stdout, stderr } = spawnSync(ORACLE_PYTHON, ['-c', script, file], options);
    const roles = 'system user assistant tool tool tool assistant tool assistant';
    assert.equal(stdout, `4 float64 ${roles}\n`, stderr);
  });
}
