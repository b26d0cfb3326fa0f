import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { dialects } from '../../src/core/agent/provider/ask.ts';
import type { ChatMessage } from '../../src/core/agent/model.ts';
import type { Json } from '../../src/core/json/json.ts';
import { toolParameters } from '../../src/core/trading/tool-parameters.ts';
import { folderWith } from '../../test/support/foreign-tools.ts';

/**
 * The bodies of requests compile against the types of the makers' own libraries, which their
 * registries have; where they cannot be had, the tests are skipped by name.
 */

/** The compiler takes seconds: what takes longer hangs. */
const COMMAND_MS = 120_000;
const LIBRARIES = ['openai@6.49.0', '@anthropic-ai/sdk@1.12.0'];
const TSC = new URL('../../node_modules/.bin/tsc', import.meta.url).pathname;
const fixture = (name: string): Json =>
  JSON.parse(readFileSync(new URL(`../../test/fixtures/streams/${name}`, import.meta.url), 'utf8'));

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
const TYPES = {
  responses: ['ResponseCreateParams', 'openai/resources/responses/responses'],
  messages: ['MessageCreateParams', '@anthropic-ai/sdk/resources/messages'],
} as const;
/** The dialect, a recorded answer, and parameters of the next request. */
const cases: [api: keyof typeof TYPES, answer: string, parameters: Json][] = [
  ['responses', 'responses-openai', { reasoning: { effort: 'xhigh' }, max_output_tokens: 9 }],
  ['responses', 'responses-openai', { temperature: 0.5, top_p: 1 }],
  ['messages', 'messages-claude', { output_config: { effort: 'max' } }],
  ['messages', 'messages-hidden-thinking', { thinking: { type: 'disabled' }, max_tokens: 9 }],
];

test("the bodies of requests compile against the types of the makers' libraries", (t) => {
  const folder = folderWith(t, LIBRARIES);
  if (folder === null) return;
  const lines = cases.flatMap(([api, answer, parameters], index) =>
    [true, false].map((isStreamed) => {
      const conversation = conversationAfter(api, fixture(`${answer}.json`));
      const body = dialects[api].body({
        conversation,
        tools,
        isStreamed,
        cacheKey: 'k',
        adds: () => true,
        parameters: { model: 'm', ...parameters },
      });
      const [type, from] = TYPES[api];
      return `import type { ${type} as T${index}${isStreamed} } from '${from}';\nexport const b${index}${isStreamed}: T${index}${isStreamed} = ${JSON.stringify(body)};`;
    }),
  );
  const compilerOptions = {
    strict: true,
    module: 'nodenext',
    target: 'es2023',
    types: [],
    noEmit: true,
    skipLibCheck: true,
  };
  const tsconfig = JSON.stringify({ compilerOptions, files: ['bodies.ts'] });
  writeFileSync(join(folder, 'tsconfig.json'), tsconfig);
  const check = (text: string) => {
    writeFileSync(join(folder, 'bodies.ts'), text);
    const args = [TSC, '-p', folder];
    return spawnSync(process.execPath, args, { encoding: 'utf8', timeout: COMMAND_MS });
  };
  const good = check(lines.join('\n'));
  assert.equal(good.status, 0, good.stdout);
  const bad = check(lines.join('\n').replace('"store":false', '"store":"no"'));
  assert.match(bad.stdout, /bodies\.ts.*error/, 'a body that does not fit is seen');
});
