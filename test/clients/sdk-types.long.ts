import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { dialects } from '../../src/agent/provider/ask.ts';
import type { ChatMessage } from '../../src/agent/model.ts';
import type { Json } from '../../src/basics/json.ts';
import { cleanText } from '../../src/basics/text.ts';
import { toolParameters } from '../../src/trading/tool-parameters.ts';
import { temporaryFolder } from '../support/service.ts';

/**
 * The bodies of requests compile against the types of the makers' own libraries, which their
 * registries have; where they cannot be had, the tests are skipped by name.
 */

/** The libraries arrive in seconds, and the compiler takes as long: what takes longer hangs. */
const COMMAND_MS = 120_000;
const LIBRARIES = ['openai@6.49.0', '@anthropic-ai/sdk@1.12.0'];
const TSC = new URL('../../node_modules/.bin/tsc', import.meta.url).pathname;
const fixture = (name: string): Json =>
  JSON.parse(readFileSync(new URL(`../fixtures/streams/${name}`, import.meta.url), 'utf8'));

/**
 * A conversation after an answer of the maker with thoughts, words and calls, and what its tools
 * returned.
 */
function conversationAfter(api: 'responses' | 'messages', body: Json): ChatMessage[] {
  const { content, toolCalls, carried } = dialects[api].read(body, 1);
  return [
    { role: 'system', content: 'You trade.' },
    { role: 'user', content: "Today's date: 2025-11-10" },
    { role: 'assistant', content, toolCalls, carried },
    ...toolCalls.map(
      ({ id }, index) =>
        ({ role: 'tool', id, content: '{}', ...(index === 0 && { isMalformed: true }) }) as const,
    ),
  ];
}

const tools = Object.entries(toolParameters).map(([name, parameters]) => ({
  name,
  description: `The tool ${name}.`,
  parameters,
}));
const cases: [
  api: 'responses' | 'messages',
  type: string,
  from: string,
  body: Json,
  parameters: Json,
][] = [
  [
    'responses',
    'ResponseCreateParams',
    'openai/resources/responses/responses',
    fixture('responses-openai.json'),
    { reasoning: { effort: 'xhigh' }, max_output_tokens: 9 },
  ],
  [
    'responses',
    'ResponseCreateParams',
    'openai/resources/responses/responses',
    fixture('responses-openai.json'),
    { temperature: 0.5, top_p: 1 },
  ],
  [
    'messages',
    'MessageCreateParams',
    '@anthropic-ai/sdk/resources/messages',
    fixture('messages-claude.json'),
    { output_config: { effort: 'max' } },
  ],
  [
    'messages',
    'MessageCreateParams',
    '@anthropic-ai/sdk/resources/messages',
    fixture('messages-hidden-thinking.json'),
    { thinking: { type: 'disabled' }, max_tokens: 9 },
  ],
];

function install(t: TestContext, folder: string): boolean {
  writeFileSync(join(folder, 'package.json'), '{"private": true, "type": "module"}');
  const { status, stderr } = spawnSync(
    'npm',
    ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...LIBRARIES],
    {
      cwd: folder,
      encoding: 'utf8',
      timeout: COMMAND_MS,
    },
  );
  if (status !== 0)
    t.skip(`${LIBRARIES.join(', ')} cannot be had: ${cleanText(stderr).slice(-300)}`);
  return status === 0;
}

test("the bodies of requests compile against the types of the makers' libraries", (t) => {
  const folder = temporaryFolder(t);
  if (!install(t, folder)) return;
  const lines = cases.flatMap(([api, type, from, answer, parameters], index) =>
    [true, false].map((isStreamed) => {
      const conversation = conversationAfter(api, answer);
      const question = {
        conversation,
        tools,
        parameters: { model: 'm', ...parameters },
        isStreamed,
        cacheKey: 'k',
        adds: () => true,
      };
      const body = dialects[api].body(question);
      return `import type { ${type} as T${index}${isStreamed} } from '${from}';\nexport const b${index}${isStreamed}: T${index}${isStreamed} = ${JSON.stringify(body)};`;
    }),
  );
  const options = {
    strict: true,
    module: 'nodenext',
    target: 'es2023',
    noEmit: true,
    skipLibCheck: true,
    types: [],
  };
  const check = (text: string) => {
    writeFileSync(join(folder, 'bodies.ts'), text);
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: options, files: ['bodies.ts'] }),
    );
    return spawnSync(process.execPath, [TSC, '-p', folder], {
      encoding: 'utf8',
      timeout: COMMAND_MS,
    });
  };
  const good = check(lines.join('\n'));
  assert.equal(good.status, 0, good.stdout);
  const bad = check(lines.join('\n').replace('"store":false', '"store":"no"'));
  assert.match(bad.stdout, /bodies\.ts.*error/, 'a body that does not fit is seen');
});
