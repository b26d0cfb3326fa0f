import type { TestContext } from 'node:test';
import { ledgerOf } from './ledger.ts';
import { type Behaviour, startModelServer } from './model-server.ts';
import { type ProdOptions, startProdService } from './prod.ts';
import { assertReplays } from './replays.ts';

/** Jobs of agents of the user's, and what these ask of their days over HTTP. */

export const DAY = { start_date: '2025-10-15', end_date: '2025-10-15' };
export const BUY = [{ side: 'buy', symbol: 'AAPL', amount: 3 }];
export const DECISION = { body: { orders: BUY, reason: 'It is cheap.' } };
export const BOUGHT = ['2025-10-15 buy AAPL 3 110 => 9670 10001.5 1.5 AAPL:3'];

export const urlHere = (port: number) => `http://127.0.0.1:${port}/decide`;

interface RunOptions extends Partial<ProdOptions> {
  urlOf?: (port: number) => string;
  entry?: object;
  dates?: object;
}

/** A job of one agent of the user's that behaves in some way. */
export async function run(t: TestContext, behaviour: Behaviour, options: RunOptions = {}) {
  const server = await startModelServer(t, behaviour);
  const { entry = {}, dates = DAY, urlOf = urlHere, ...more } = options;
  const agent_url = urlOf(server.port);
  const service = await startProdService(t, {
    models: [{ signature: 'mine', api: 'agent', agent_url, openai_api_key: 'own-key', ...entry }],
    ...more,
  });
  const job = await service.runJob({ ...dates });
  await assertReplays(service.database);
  const { sessions = [] } = (await service.get('/reasoning?include_full_conversation=true')).body;
  return {
    ...{ service, job, server, requests: server.requests, session: sessions[0] },
    ledger: ledgerOf(service.database, 'mine'),
    error: job.details[0].error,
  };
}

/** A request of an agent to the tools of its day. */
export async function ask({ day }: any, path: string, args?: unknown, token = day.token) {
  const response = await fetch(`${day.url}/day${path}`, {
    method: args === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(args !== undefined && { body: JSON.stringify(args) }),
  });
  return { status: response.status, body: (await response.json()) as any }; // any: the tests check its fields
}
