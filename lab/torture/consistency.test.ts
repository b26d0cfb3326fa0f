import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { realAgentHere } from '../../test/support/agent-here.ts';
import { contradictions } from '../../test/support/agreement.ts';
import { differences } from '../../test/support/csv-agreement.ts';
import { isLong } from '../../test/support/long.ts';
import { importFile } from '../../src/features/price-files/import.ts';
import { startTestService } from '../../test/support/service.ts';
import { consistencyConfiguration, keepAsking } from './consistency.ts';

type Json = any;

/** What a response would look like if it were made of two states, by request. */
const contradictory: readonly [string, string, (body: Json) => void][] = [
  ['/jobs', 'count', (body) => body.jobs.pop()],
  ['/jobs', 'of which', ({ jobs }) => (jobs[0].progress.completed += 1)],
  ['/jobs', 'newest', ({ jobs }) => jobs.reverse()],
  ['/simulate/status/', 'in the details', ({ details }) => (details[0].status = 'failed')],
  ['/simulate/status/', 'unfinished', ({ details }) => (details[0].status = 'running')],
  ['/simulate/status/', 'details', ({ details }) => details.pop()],
  ['/results', 'has the actions', ({ results }) => (results[0].action_id = 2)],
  ['/results', 'twice', ({ results }) => (results[1].id = results[0].id)],
  ['/results', 'of two jobs', ({ results }) => (doubled(results).job_id = 'another')],
  ['/results', 'cash is', ({ results }) => (doubled(results).cash += 0.01)],
  ['/results', 'holdings are', ({ results }) => doubled(results).holdings.pop()],
  ['/results', 'starts from', ({ results }) => (doubled(results).daily_profit += 0.01)],
  [
    '/results',
    'do not follow',
    ({ results }) => results.push(...results.splice(results.indexOf(doubled(results)), 1)),
  ],
  ['/reasoning', 'without positions', ({ sessions }) => (withTrade(sessions).positions = [])],
  ['/reasoning', 'with positions', ({ sessions }) => (withTrade(sessions).completed_at = null)],
  ['/reasoning', 'messages, and', ({ sessions }) => (sessions[0].total_messages -= 1)],
  ['/reasoning', 'in the positions', ({ sessions }) => withTrade(sessions).positions.pop()],
  ['/performance', 'points', ({ models }) => models[0].curve.pop()],
  ['/performance', 'its days make', ({ models }) => (models[0].curve[1].daily_return += 1e-4)],
  ['/performance', 'stale', ({ models }) => (models[0].stale_model_days += 1)],
  ['/performance', 'by symbol', ({ models }) => (models[0].trading.trades += 1)],
  ['/performance', 'months', ({ models }) => (models[0].details.months[0].return += 1e-4)],
  ['/performance', 'family', ({ families }) => (families[0].runs[0].model_days += 1)],
  ['/performance', 'benchmark', ({ benchmark }) => (benchmark.total_return += 1e-4)],
  ['/holdings', 'holdings and cash', ({ days }) => (days[0].cash += 0.01)],
  ['/holdings', 'weights', ({ days }) => (days[0].cash_weight += 1e-4)],
  ['/holdings', 'in the list', ({ symbols }) => (symbols[0].days += 1)],
  ['/comparison', 'pairs', ({ pairs }) => pairs.pop()],
  ['/comparison', 'of its runs', ({ models }) => models[0].run_returns.push(0)],
  ['/decisions', 'order', ({ decisions }) => decisions.reverse()],
  ['/decisions', 'two sessions', ({ decisions }) => (doubled(decisions).session_id += 1)],
  ['/search', 'twice', ({ messages }) => (messages[1] = messages[0])],
  ['/models', 'completed days', ({ models }) => (models[0].completed_model_days = 0)],
  ['/prices/coverage', 'bars', ({ symbols }) => (symbols[0].bars = 0)],
  ['/audit', 'problems', ({ counts }) => (counts.problems = 1)],
];

/** The second item of a model-day that has two. */
function doubled(items: Json[]): Json {
  const dayOf = ({ date, model }: Json) => `${date} ${model}`;
  return items.find((item, index) => index > 0 && dayOf(item) === dayOf(items[index - 1]));
}

function withTrade(sessions: Json[]): Json {
  return sessions.find(({ positions }) => positions[0]?.action_type === 'buy');
}

test('while jobs commit, replace and are cancelled, and prices are imported, no response contradicts itself', async (t) => {
  const service = await startTestService(t, {
    configuration: consistencyConfiguration,
    agent: await realAgentHere(),
    settings: { maxSimulationDays: 60 },
  });
  const importPrices = async (csv: string) => {
    const path = join(service.folder, 'prices.csv');
    writeFileSync(path, csv);
    const { clock } = service;
    await importFile(service.database, path, { clock, as: 'raw', onRefused: assert.fail });
  };
  const seed = Date.now() % 1_000_000;
  t.diagnostic(`seed ${seed}`);
  const { findings, responses, compared, paths } = await keepAsking({
    url: service.url,
    seconds: isLong ? 20 : 1,
    seed,
    firstWeeks: isLong ? 5 : 1,
    importPrices,
  });
  assert.deepEqual(findings, [], `seed ${seed}`);
  assert.ok(responses > 20 && compared > 2, `${responses} responses, ${compared} compared`);
  const { paths: described } = (await service.get('/openapi.json')).body;
  // Those of a day need its token, and there are no documents.
  const gets = Object.keys(described).filter(
    (path) => described[path].get && !/^\/(day|documents)/.test(path),
  );
  if (isLong)
    assert.deepEqual([...paths, '/openapi.json'].sort(), gets.sort(), 'every GET was asked');

  // What it is there to find is found.
  const { jobs } = (await service.get('/jobs?status=completed')).body;
  const requests: Record<string, string> = {
    '/simulate/status/': `/simulate/status/${jobs.at(-1).job_id}`,
    '/reasoning': '/reasoning?include_full_conversation=true',
    '/performance': '/performance?details=true',
    '/holdings': '/holdings?model=alpha',
    '/comparison': '/comparison?models=alpha,beta,gamma',
    '/search': '/search?q=executed',
    '/prices/coverage': '/prices/coverage?symbol=AAPL',
  };
  for (const [name, sentence, change] of contradictory) {
    const path = requests[name] ?? name;
    const { body } = await service.get(path);
    assert.deepEqual(contradictions(path, body), []);
    change(body);
    assert.match(
      contradictions(path, body).join('\n'),
      new RegExp(sentence),
      `${name} ${sentence}`,
    );
  }
  for (const path of ['/results?', '/performance?', '/holdings?model=alpha&', '/comparison?']) {
    const { body } = await service.get(path);
    const csv = await (await fetch(`${service.url}${path}format=csv`)).text();
    const changed = csv.replace(/,\d/, (digit) => `,${(Number(digit.slice(1)) + 1) % 10}`);
    assert.ok(changed !== csv);
    assert.notDeepEqual(differences(`${path}format=csv`, changed, body), [], path);
  }
});
