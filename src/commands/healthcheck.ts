import { get } from 'node:http';
import { readSettings } from '../settings.ts';

const TIMEOUT_MS = 5_000;

/** The command `healthcheck`, for containers without a shell: 0 when the service on API_PORT is healthy, else 1. */
export async function healthcheck(): Promise<number> {
  const { apiPort } = readSettings(process.env);
  const state = await ask(apiPort);
  process.stdout.write(`${state}\n`);
  return state === 'healthy' ? 0 : 1;
}

function ask(port: number): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const request = get({ host: '127.0.0.1', port, path: '/health', timeout: TIMEOUT_MS }, (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    response.on('end', () => resolve(stateIn(text)));
  });
  request.on('timeout', () => request.destroy(new Error(`no answer within ${TIMEOUT_MS / 1000} seconds`)));
  request.on('error', (error: Error) => resolve(`unreachable: ${error.message}`));
  return promise;
}

function stateIn(text: string): string {
  try {
    return String((JSON.parse(text) as { status?: unknown }).status);
  } catch {
    return 'unreachable: the response is not a health report';
  }
}
