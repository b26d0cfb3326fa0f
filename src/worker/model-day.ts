import type { Configuration } from '../configuration.ts';
import type { Job } from '../database/jobs.ts';
import { type ModelDay, endModelDay } from '../database/sessions.ts';
import { timestamp } from '../calendar.ts';
import { ServiceError } from '../domain.ts';
import { logUnexpected } from '../log.ts';
import { fromDollars } from '../money.ts';
import type { ChildMessage, Start, ToolResults } from '../protocol.ts';
import type { Market } from '../trading/market.ts';
import {
  type Session,
  abortSession,
  briefOf,
  completeSession,
  logMessages,
  openSession,
  takeStep,
} from '../trading/session.ts';
import { toolDescriptions } from '../trading/tools.ts';
import type { WorkerContext } from './context.ts';
import { launch } from './launch.ts';

export interface JobRun {
  job: Job;
  universe: ReadonlySet<string>;
  /** The server's configuration as it is now; null when its file is missing or broken. */
  configuration: Configuration | null;
  signal: AbortSignal;
}

/**
 * Runs one model-day to its one end: completed with its positions, or failed with a reason. When the job is stopped
 * meanwhile it is left as it is, to be taken up again.
 */
export async function runModelDay(
  context: WorkerContext,
  run: JobRun,
  { modelDay, market }: { modelDay: ModelDay; market: Market },
): Promise<void> {
  const model = resolveModel(context, run, modelDay.model);
  if ('error' in model) {
    return endModelDay(context.database, modelDay, {
      status: 'failed',
      error: model.error,
      completedAt: timestamp(context.clock()),
    });
  }
  const { agentConfig } = run.job;
  const session = openSession(context, modelDay, {
    market,
    universe: run.universe,
    initialCash: fromDollars(agentConfig.initial_cash),
  });
  try {
    const start: Start = {
      type: 'start',
      signature: modelDay.model,
      model,
      maxSteps: agentConfig.max_steps,
      brief: briefOf(session),
      tools: toolDescriptions,
    };
    const outcome = await launch(start, {
      program: context.agentProgram,
      timeoutMs: context.settings.modelDayTimeoutMs,
      signal: run.signal,
      onMessage: (message) => receive(context, session, { message, maxSteps: agentConfig.max_steps }),
      onStderr: (tail) => context.log.warning('model process wrote to stderr', { ...modelDay, tail }),
    });
    if (run.signal.aborted) return;
    if (outcome.status === 'finished') completeSession(context, session, outcome.summary);
    else abortSession(context, session, outcome.error);
  } catch (error) {
    const reason =
      error instanceof ServiceError
        ? error.message
        : `Internal error (reference ${logUnexpected(context.log, error, { ...modelDay })})`;
    abortSession(context, session, reason);
  }
}

function resolveModel(
  { settings }: WorkerContext,
  { configuration }: JobRun,
  signature: string,
): Start['model'] | { error: string } {
  if (settings.deploymentMode === 'DEV') return { kind: 'simulated' };
  const entry = configuration?.models.find((model) => model.signature === signature);
  if (entry === undefined) return { error: `Model '${signature}' is not in the server configuration` };
  return { error: `Cannot run model '${signature}': this version has no model provider; use DEPLOYMENT_MODE=DEV` };
}

/** Takes one message of the child. Throws when it does not fit where the session stands. */
function receive(
  context: WorkerContext,
  session: Session,
  { message, maxSteps }: { message: Exclude<ChildMessage, { type: 'outcome' }>; maxSteps: number },
): ToolResults | null {
  if (message.type === 'prompt') {
    if (session.totalMessages > 0) throw protocolError('it sent a second prompt');
    logMessages(context, session, message.messages);
    return null;
  }
  if (session.steps >= maxSteps) throw protocolError(`it went on after ${maxSteps} steps`);
  const results = takeStep(context, session, message);
  return results.results.length > 0 ? results : null;
}

function protocolError(what: string): ServiceError {
  return new ServiceError('unprocessable', `The model process broke the protocol: ${what}`);
}
