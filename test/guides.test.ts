import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { conversationTexts } from '../src/core/agent/prompt.ts';
import { withSnapshot } from '../src/core/database/snapshot.ts';
import { readSettings } from '../src/core/settings/settings.ts';
import { toolDescriptions } from '../src/core/trading/tools.ts';
import { emptyAuditReport, modelFirstMessages, replayLedger } from '../src/core/verify/replay.ts';
import { matchPage } from '../src/features/pages/paths.ts';
import { openResponder } from '../src/features/publish/respond.ts';
import { routes } from '../src/routes.ts';
import type { Json } from './support/json-schema.ts';
import { tableOf } from './support/text-table.ts';
import { tradingDay } from './support/trading-day.ts';

/** What docs/explain/how-it-works.md and docs/guides/why-a-beat-b.md print is what the program says of the demo package. */

const name = 'docs/demo-package.db';
const ROOT = new URL('..', import.meta.url).pathname;
const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const [day, why] = ['docs/explain/how-it-works.md', 'docs/guides/why-a-beat-b.md'].map(textOf) as [
  string,
  string,
];
const file = openResponder(name, { name, settings: readSettings({}), routes });
after(() => file.close());

const withoutSpace = (text: string) => text.replaceAll(/\s/g, '');

function respond(address: string): Json {
  const { pathname, searchParams } = new URL(address, 'http://localhost');
  return JSON.parse(file.respond(pathname, Object.fromEntries(searchParams)));
}

function messagesOf(date: string): Json[] {
  const address = `/reasoning?model=simulated-1&date=${date}&include_full_conversation=true`;
  return respond(address)['sessions'][0].conversation;
}

/** The first text block below a heading. */
function blockBelow(heading: string): string {
  const [, section = ''] = day.split(`\n### ${heading}\n`);
  const [, block = ''] = /```text\n([^]*?)\n```/.exec(section) ?? [];
  assert.notEqual(block, '', heading);
  return block;
}

test('docs/explain/how-it-works.md prints the prompt and the report that the program makes of that day now', async () => {
  const printed: unknown[] = [];
  await withSnapshot(name, (reader) =>
    replayLedger(reader, emptyAuditReport(), {
      firstMessagesOf(brief, record) {
        const { model, date } = record.session;
        if (model === 'simulated-1' && date === '2026-10-06')
          printed.push(...conversationTexts().firstMessages(brief, null));
        return modelFirstMessages(brief, record);
      },
    }),
  );
  assert.deepEqual(printed, [
    { role: 'system', content: blockBelow('The system prompt') },
    { role: 'user', content: blockBelow('The morning report') },
  ]);
});

test('the table of docs/explain/how-it-works.md has every tool with its arguments, as models read them', () => {
  const has = {} as never;
  const offered = toolDescriptions(
    tradingDay({ universe: has, portfolio: has, market: has, news: has, documents: has, note: '' }),
  );
  const expected = offered.map(({ name, description, parameters }) => {
    const { properties, required } = parameters as Json;
    const args = Object.keys(properties).map(
      (arg) => `\`${arg}${required.includes(arg) ? '' : '?'}\``,
    );
    return [`\`${name}\``, args.join(', ') || 'none', description];
  });
  const [rows = ''] = /(^\| `.*\n)+/m.exec(day) ?? [];
  assert.deepEqual(
    tableOf(rows).map((cells) => cells.slice(1, -1)),
    expected,
  );
});

test('the conversation of docs/explain/how-it-works.md is the stored one without two histories; its refusal too', () => {
  const isLeftOut = ({ tool_name, content }: Json) =>
    tool_name === 'get_price_history' && !content.startsWith('{"symbol":"COST"');
  const [, , ...all] = messagesOf('2026-10-06');
  const shown = all.filter((message) => !isLeftOut(message));
  assert.equal(all.length - shown.length, 2);
  const lines = shown.map(({ role, content, tool_name, tool_input }) =>
    role === 'assistant' ? `model ${content}` : `call ${tool_name} ${tool_input} reply ${content}`,
  );
  assert.equal(withoutSpace(blockBelow('The conversation')), withoutSpace(lines.join('')));
  const [refusal = ''] = /^\{"error":.*\}$/m.exec(day) ?? [];
  assert.ok(messagesOf('2026-10-12').some(({ content }) => content === refusal));
});

for (const [page, text, requests] of [
  ['docs/explain/how-it-works.md', day, 1],
  ['docs/guides/why-a-beat-b.md', why, 3],
] as const)
  test(`requests in ${page} get the fields below them`, () => {
    const found = [...text.matchAll(/^curl 'localhost:8080(.*)'\n((?:#.*\n)+)/gm)];
    assert.equal(found.length, requests);
    for (const [, address = '', shown = ''] of found)
      assert.partialDeepStrictEqual(
        respond(address),
        JSON.parse(shown.replaceAll(/^#/gm, '').replaceAll(/\n +/g, ' ')),
        address,
      );
  });

test('the pages that docs/guides/why-a-beat-b.md names exist, and their sections', () => {
  const pages = [...why.matchAll(/`(\/[^`? ]+)[^`]*`/g)].map(([, path = '']) => path);
  const api = routes.map(({ path }) => path);
  const named = pages.filter((path) => !api.includes(path));
  assert.ok(named.length > 2);
  assert.deepEqual(
    named.filter((path) => matchPage(path) === null),
    [],
  );
  const browser = globSync(
    ['src/features/pages/browser/pages/*.ts', 'src/features/performance/labels.ts'],
    {
      cwd: ROOT,
    },
  )
    .map(textOf)
    .join('');
  const labels = [...why.matchAll(/(?<!\*)\*([^*\n]+)\*(?!\*)/g)].map(([, label = '']) => label);
  assert.ok(labels.length > 3);
  assert.deepEqual(
    labels.filter((label) => !browser.includes(`'${label}'`)),
    [],
  );
});
