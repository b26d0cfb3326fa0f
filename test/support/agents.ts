import { readFileSync } from 'node:fs';
import type { ProviderEndpoint, StartMessage } from '../../src/core/wire/protocol.ts';
import { agentHere, inProcesses, type TestAgent } from './agent-here.ts';
import { US_RULES } from './market-rules.ts';

/** The script of a model's day: its messages in turn, each with its tool calls. */
export type Script = Record<string, [tool: string, args: unknown][][]>;

/** The start of a model-day of a simulated model. */
export const simulatedStart: Omit<StartMessage, 'pastMessages'> = {
  type: 'start',
  signature: 'model-a',
  family: 'model-a',
  model: { kind: 'simulated' },
  maxSteps: 5,
  prompt: null,
  brief: {
    date: '2025-01-06',
    cash: 10_000,
    portfolioValue: 10_000,
    holdings: [],
    quotes: [],
    rules: US_RULES,
  },
  tools: [],
};

/** A provider's endpoint that is asked once, without a key. */
export function endpointAt(
  baseUrl: string,
  changes: Partial<ProviderEndpoint> = {},
): ProviderEndpoint {
  return {
    ...{ kind: 'provider', api: 'chat', baseUrl, apiKey: null, keyOrigin: 'no key' },
    parameters: { model: 'test' },
    ...{ stream: 'off', cacheKey: null, leftOut: [] },
    ...{ requestTimeoutMs: 60_000, maxRetries: 0, baseDelayMs: 1 },
    ...changes,
  };
}

/** A fixture program that behaves in one particular way, as text. */
export function agentFixture(name: string): string {
  return readFileSync(new URL(`../fixtures/agents/${name}.cjs`, import.meta.url), 'utf8');
}

/**
 * An agent that follows a script instead of asking a model: keys are `model date` or `*`; a day
 * that is not in the script ends without a trade. A step `['fail', 'words']` fails the day,
 * `['wait', milliseconds]` waits, and `['killed', N]` is a SIGKILL for a child that has not heard
 * of N past messages. With `says` it says that, whatever it does. It runs in the process of the
 * test, because most tests are of jobs, and not of processes.
 */
export function scriptedAgent(script: Script, says?: string): TestAgent {
  return agentHere(scriptedProgram(script, says));
}

/** The same, always in a process of its own, for tests that look at processes. */
export function scriptedProcess(script: Script, says?: string): TestAgent {
  return inProcesses(scriptedProgram(script, says));
}

function scriptedProgram(script: Script, says: string | undefined): string {
  return agentFixture('scripted').replace("'SCRIPT'", JSON.stringify({ script, says }));
}
