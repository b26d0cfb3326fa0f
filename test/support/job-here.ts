import assert from 'node:assert/strict';
import { type CalendarDate, timestamp, weekdays } from '../../src/core/time/calendar.ts';
import { firstMessages } from '../../src/core/agent/prompt.ts';
import type { AgentConfiguration } from '../../src/core/settings/configuration-schema.ts';
import {
  parseAgentConfiguration,
  readConfiguration,
} from '../../src/core/settings/configuration.ts';
import {
  datesToRun,
  finalStatus,
  pendingModelDays,
  skipModelDays,
} from '../../src/core/database/model-days.ts';
import { morningWrite } from '../../src/core/database/price-writes.ts';
import { endJob, loadJob, type JobRun, setJobStatus } from '../../src/core/database/job-queries.ts';
import type { ModelDay } from '../../src/core/database/sessions.ts';
import { encodeEntry } from '../../src/core/settings/entry.ts';
import { expandModels } from '../../src/core/jobs/chosen-models.ts';
import { createLog } from '../../src/core/process/log.ts';
import { fromDollars } from '../../src/core/money/money.ts';
import { openMarket } from '../../src/core/trading/market.ts';
import { openSession } from '../../src/core/trading/session.ts';
import { orderTerms } from '../../src/core/trading/orders.ts';
import { createMessageHandler } from '../../src/core/children/child-messages.ts';
import { knownKeys, resolveEntry } from '../../src/core/jobs/entries.ts';
import type { Script } from './agents.ts';
import { insertTestJob } from './jobs.ts';
import type { TestService } from './service.ts';

const log = createLog({ level: 'ERROR', json: true, write: () => {}, clock: () => new Date() });

/**
 * As the trigger's request; all weekdays from the first to the last are simulated; on each there
 * are prices.
 */
export interface RequestHere {
  start_date: CalendarDate;
  end_date: CalendarDate;
  models: readonly string[];
  replace_existing?: boolean;
  /** Whether conversations begin as those of models do, so that the service can replay them. */
  isReplayable?: boolean;
}

/**
 * A job whose model-days run in this process: their sessions take the messages that a child with
 * `scriptedAgent(script)` would send, without a child for each. For tests that read what is stored;
 * the job's own course is tested with children. Resolves to its last status. A call `['say',
 * words]` or `['think', words]` in the script is what the model says or thinks.
 */
export async function runJobHere(
  service: TestService,
  script: Script,
  request: RequestHere,
): Promise<any> {
  const { database, settings, clock } = service;
  const configuration = readConfiguration(settings.configurationPath);
  const { agent_config: agentConfig } = configuration;
  const jobId = crypto.randomUUID();
  const {
    start_date: startDate,
    end_date: endDate,
    replace_existing: replaceExisting = false,
    isReplayable = false,
  } = request;
  const runs: JobRun[] = expandModels(request.models, configuration).map((run) => {
    const entry = encodeEntry(
      resolveEntry(run, { configuration, settings, isKey: knownKeys(configuration, settings, {}) }),
    );
    return { model: run.model, family: run.family, startDate, entry };
  });
  const range = { startDate, endDate, dates: weekdays(startDate, endDate), runs, replaceExisting };
  const createdAt = timestamp(clock());
  database.transaction(() => {
    insertTestJob(database, { ...range, jobId, agentConfig, createdAt, warnings: [] });
    setJobStatus(database, jobId, { status: 'running', at: createdAt });
  });
  const stored = parseAgentConfiguration(loadJob(database, jobId).agentConfig);
  const priced = datesToRun(database, jobId);
  database.transaction(() => skipModelDays(database, jobId, { priced, at: timestamp(clock()) }));
  for (const modelDay of priced.flatMap((date) => pendingModelDays(database, jobId, date)))
    await runModelDay(service, { modelDay, agentConfig: stored, isReplayable }, script);
  const last = finalStatus(database, jobId);
  database.transaction(() =>
    endJob(database, jobId, { status: last, error: null, at: timestamp(clock()) }),
  );
  const { status, body } = await service.get(`/simulate/status/${jobId}`);
  assert.equal(status, 200);
  return body;
}

const ANSWER = { type: 'answer', reasoning: null, usage: null, note: null } as const;

async function runModelDay(
  { database, clock }: TestService,
  {
    modelDay,
    agentConfig,
    isReplayable,
  }: { modelDay: ModelDay; agentConfig: AgentConfiguration; isReplayable: boolean },
  script: Script,
): Promise<void> {
  const universe = new Set(agentConfig.stock_symbols);
  const write = database.transaction(() => morningWrite(database, modelDay));
  const market = openMarket({ reader: database, write }, modelDay.date, [...universe]);
  const options = {
    market,
    universe,
    initialCash: fromDollars(agentConfig.initial_cash),
    paysDividends: agentConfig.dividends,
    tokenPrices: null,
    news: null,
    decider: null,
    ...orderTerms(agentConfig),
  };
  const session = await openSession({ database, clock }, modelDay, options);
  const handle = createMessageHandler(session, {
    log,
    maxSteps: agentConfig.max_steps,
    maxFailures: 0,
    onRefused: async () => {},
  });
  await handle({
    type: 'prompt',
    messages: isReplayable
      ? [...firstMessages(session.brief)]
      : [{ role: 'user', content: JSON.stringify(session.brief) }],
  });
  for (const calls of script[`${modelDay.model} ${modelDay.date}`] ?? script['*'] ?? []) {
    const [name, error] = calls[0] ?? [];
    if (name === 'fail') return session.end({ status: 'failed', error: String(error) });
    const toolCalls = calls
      .filter(([tool]) => tool !== 'say' && tool !== 'think')
      .map(([tool, args], id) => ({ id: `${id}`, name: tool, arguments: JSON.stringify(args) }));
    const wordsOf = (kind: string) =>
      calls.find(([tool]) => tool === kind)?.[1] as string | undefined;
    await handle({
      ...ANSWER,
      content: wordsOf('say') ?? 'I trade.',
      reasoning: wordsOf('think') ?? null,
      toolCalls,
    });
  }
  await handle({ ...ANSWER, content: 'Done.', toolCalls: [] });
  await session.end({ status: 'finished', summary: 'Done.' });
}
