import { createProviderModel, type FailedTry } from '../../src/core/agent/provider/ask.ts';
import type { ChatMessage, ModelAnswer } from '../../src/core/agent/model.ts';
import type { Addition, ProviderEndpoint, ToolDescription } from '../../src/core/wire/protocol.ts';

export const KEY = 'sk-test-012345"67\\89abcdef';
export const BASE_DELAY_MS = 4;
/** What `String()` throws at. */
export const NO_TEXT = { toString: 1, valueOf: 1 };
export const opening: ChatMessage[] = [{ role: 'user', content: "Today's date: 2025-11-10" }];

export function endpointOf(
  baseUrl: string,
  changes: Partial<ProviderEndpoint> = {},
): ProviderEndpoint {
  return {
    ...{
      kind: 'provider',
      api: 'chat',
      baseUrl,
      apiKey: KEY,
      keyOrigin: 'key from KEY',
      parameters: { model: 'test' },
    },
    ...{ stream: 'off', cacheKey: null, leftOut: [] },
    ...{ requestTimeoutMs: 60_000, maxRetries: 3, baseDelayMs: BASE_DELAY_MS },
    ...changes,
  };
}

export interface Asked {
  answer: ModelAnswer | null;
  error: string | null;
  failures: FailedTry[];
  refused: (readonly Addition[])[];
}

/** Asks a model once, and notes what came of it. */
export async function askOnce(
  endpoint: ProviderEndpoint,
  conversation = opening,
  tools: readonly ToolDescription[] = [],
): Promise<Asked> {
  const asked: Asked = { answer: null, error: null, failures: [], refused: [] };
  const model = createProviderModel(endpoint, {
    tools,
    onFailure: (failed) => void asked.failures.push(failed),
    onRefused: (names) => void asked.refused.push(names),
  });
  try {
    asked.answer = await model(conversation);
  } catch (error) {
    asked.error = (error as Error).message;
  }
  return asked;
}
