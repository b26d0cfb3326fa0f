import { createServer } from 'node:net';
import type * as v from 'valibot';
import { dateOf, weekdaysBefore } from '../calendar.ts';
import { reasoningResponse } from '../handlers/reasoning.ts';
import { resultsResponse } from '../handlers/results.ts';
import { triggerResponse } from '../handlers/trigger.ts';
import { ownToken } from '../http/access-tokens.ts';
import { readSettings } from '../settings.ts';
import { cleanText } from '../text.ts';
import { type Client, createClient } from './client.ts';
import { followJob } from './follow-job.ts';
import { type JobStatusAnswer, describeEnd } from './job-view.ts';
import { alignColumns } from './text-table.ts';

const DEMO_WEEKDAYS = 10;

type ResultsRecord = v.InferOutput<typeof resultsResponse>['results'][number];

/**
 * The command `demo`: serves in DEV mode, runs the last ten weekdays for the configured models as a client of its own
 * service, prints what came of it, and keeps serving until Ctrl-C; in the middle that ends it in order too, with exit code 0.
 */
export async function demo(): Promise<void> {
  process.env['DEPLOYMENT_MODE'] = 'DEV';
  process.env['LOG_LEVEL'] ||= 'WARNING';
  process.env['API_PORT'] = String(await choosePort(Number(process.env['API_PORT'] || 8080)));
  const token = ownToken(readSettings(process.env));
  const { serve } = await import('./serve.ts');
  const { port } = await serve();
  const client = createClient(`http://127.0.0.1:${port}`, token);
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    await simulate(client, { port, isGuarded: token !== null, signal: stopping.signal });
  } catch (error) {
    // The service is on its way out, and takes the process with it.
    if (!stopping.signal.aborted) throw error;
  }
}

interface Demo {
  port: number;
  isGuarded: boolean;
  signal: AbortSignal;
}

async function simulate(client: Client, { port, isGuarded, signal }: Demo): Promise<void> {
  const dates = weekdaysBefore(dateOf(new Date()), DEMO_WEEKDAYS);
  const request = { start_date: dates[0], end_date: dates.at(-1) };
  const job = await client.post('/simulate/trigger', request, triggerResponse);
  print(`${job.message}, from ${request.start_date} to ${request.end_date}.`);
  const status = await followJob(client, job.job_id, { stream: process.stderr, signal });
  print(describeEnd(status));
  print(await summaryTable(client, status));
  print(nextSteps(`http://localhost:${port}`, { status, isGuarded }));
}

/** The wanted port, or 0 (any free one) when something else listens there. */
async function choosePort(wanted: number): Promise<number> {
  const probe = createServer();
  const isFree = await new Promise<boolean>((resolve) => {
    probe.once('error', () => resolve(false)).listen(wanted, () => resolve(true));
  });
  if (!isFree) {
    print(`Port ${wanted} is taken, so a free one is used.`);
    return 0;
  }
  await new Promise((resolve) => probe.close(resolve));
  return wanted;
}

async function summaryTable(client: Client, status: JobStatusAnswer): Promise<string> {
  const rows = [['model', 'trades', 'refused orders', 'end value', 'return']];
  for (const model of status.models) {
    const query = new URLSearchParams({ job_id: status.job_id, model });
    const { results } = await client.get(`/results?${query}`, resultsResponse);
    const last = results.at(-1);
    if (last !== undefined)
      rows.push([cleanText(model), ...figures(results, { last, refusals: await countRefusals(client, query) })]);
  }
  return ['', ...alignColumns(rows), ''].join('\n');
}

function figures(
  results: readonly ResultsRecord[],
  { last, refusals }: { last: ResultsRecord; refusals: number },
): string[] {
  const trades = results.filter(({ action_type }) => action_type === 'buy' || action_type === 'sell').length;
  const lastOfDays = results.filter(({ date }, index) => results[index + 1]?.date !== date);
  const profit = lastOfDays.reduce((sum, { daily_profit }) => sum + (daily_profit ?? 0), 0);
  const returnPct = (profit / (last.portfolio_value - profit)) * 100;
  const value = last.portfolio_value.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  return [String(trades), String(refusals), value, `${returnPct >= 0 ? '+' : ''}${returnPct.toFixed(2)} %`];
}

/** Orders that the tools refused: simulated models make the mistakes of real ones. */
async function countRefusals(client: Client, query: URLSearchParams): Promise<number> {
  const { sessions } = await client.get(`/reasoning?${query}&include_full_conversation=true`, reasoningResponse);
  const messages = sessions.flatMap(({ conversation }) => conversation ?? []);
  return messages.filter(
    ({ tool_name, content }) => (tool_name === 'buy' || tool_name === 'sell') && 'error' in JSON.parse(content),
  ).length;
}

function nextSteps(baseUrl: string, { status, isGuarded }: { status: JobStatusAnswer; isGuarded: boolean }): string {
  const { job_id, models, date_range } = status;
  const day = new URLSearchParams({
    model: models[0] ?? '',
    date: date_range.at(-1) ?? '',
    include_full_conversation: 'true',
  });
  return [
    `Still serving; Ctrl-C ends it. Open ${baseUrl}/ in a browser.`,
    `As JSON${isGuarded ? ', with an access token' : ''}:`,
    `  ${baseUrl}/simulate/status/${job_id}`,
    `  ${baseUrl}/results?job_id=${job_id}`,
    `  ${baseUrl}/reasoning?${day}`,
    `  ${baseUrl}/openapi.json`,
    'or start a job of your own:',
    `  curl -X POST ${baseUrl}/simulate/trigger -H 'Content-Type: application/json' \\`,
    ...(isGuarded ? ['    -H "Authorization: Bearer $API_TOKEN" \\'] : []),
    `    -d '{"end_date": "${date_range.at(-1)}", "models": ["my-model"]}'`,
  ].join('\n');
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
