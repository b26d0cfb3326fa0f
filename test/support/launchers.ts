import { launch } from '../../src/core/children/launch.ts';
import {
  type LauncherTimes,
  launcherTimes,
  type ChildRights,
  type StartedChild,
} from '../../src/core/children/process.ts';
import { createChildStarter } from '../../src/core/children/launcher.ts';
import type { StartMessage } from '../../src/core/wire/protocol.ts';
import { agentFixture, endpointAt, simulatedStart } from './agents.ts';

/** One model-day through a small launcher of this machine. */

export const NODE = process.execPath;
export const MODEL_DAY = { model: 'my model/1', date: '2025-01-06', jobId: 'job-1' };
/** Times that a test can wait for. */
export const HASTY: LauncherTimes = {
  termAfterMs: 50,
  killAfterMs: 50,
  giveUpAfterMs: 50,
  drainMs: 50,
};
export const KEY = 'sk-a-secret';
export const endpoint = endpointAt('http://127.0.0.1:1/v1', { apiKey: KEY });

/** A shell that runs a script with Node's command line in it. */
export const shell = (script: string) => [
  'sh',
  '-c',
  script.replaceAll('NODE', `${NODE} {arguments}`),
];

export interface LauncherOptions {
  program?: string;
  model?: StartMessage['model'];
  variables?: string[];
  environment?: NodeJS.ProcessEnv;
  times?: LauncherTimes;
  timeoutMs?: number;
  quotes?: StartMessage['brief']['quotes'];
  startChild?: (program: string, rights: ChildRights) => StartedChild;
}

/** Runs it to its end; `stderr` is the end of what the launcher wrote there. */
export async function runThrough(command: readonly string[], options: LauncherOptions = {}) {
  const {
    program = agentFixture('completes'),
    model = simulatedStart.model,
    times = launcherTimes,
  } = options;
  const settings = { modelDayCommand: command, modelDayCommandVariables: options.variables ?? [] };
  const start = createChildStarter(settings, options.environment ?? process.env, times);
  let stderr = '';
  const brief = { ...simulatedStart.brief, quotes: options.quotes ?? [] };
  const outcome = await launch(
    { ...simulatedStart, model, brief },
    {
      program,
      startChild: options.startChild ?? ((text, rights) => start(text, rights, MODEL_DAY)),
      timeoutMs: options.timeoutMs ?? 600_000,
      memoryMb: 512,
      signal: new AbortController().signal,
      onMessage: async (message) =>
        message.type === 'answer' && message.toolCalls.length > 0
          ? {
              type: 'tool_results',
              results: message.toolCalls.map(({ id }) => ({ role: 'tool', id, content: '{}' })),
            }
          : null,
      onStderr: (tail) => (stderr = tail),
    },
  );
  return {
    outcome: outcome as { status: string; error: string; summary?: string },
    stderr,
  };
}
