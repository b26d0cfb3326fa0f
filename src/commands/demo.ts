import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import * as v from 'valibot';
import { dateOf, weekdaysBefore } from '../calendar.ts';
import { ServiceError } from '../domain.ts';
import { forTerminal } from '../log.ts';
import { reasoningResponse } from '../handlers/reasoning.ts';
import { resultsResponse } from '../handlers/results.ts';
import { statusResponse } from '../handlers/status.ts';
import { triggerResponse } from '../handlers/trigger.ts';
import { ownToken } from '../http/access-tokens.ts';
import { readSettings } from '../settings.ts';
import { type Client, createClient } from './client.ts';
import { createProgressLine } from './progress.ts';

const DEMO_WEEKDAYS = 10;
const POLL_INTERVAL_MS = 100;

type JobStatus = v.InferOutput<typeof statusResponse>;
type ResultsRecord = v.InferOutput<typeof resultsResponse>['results'][number];

/**
 * The command `demo`: serves in DEV mode, runs the last ten weekdays for the configured models as a client of its own
 * service, prints what came of it, and goes on serving until Ctrl-C.
 */
export async function demo(args: readonly string[]): Promise<void> {
  if (args.length > 0) throw new ServiceError('cannot_start', `Cannot start: demo has no argument ${args.join(' ')}`);
  process.env['DEPLOYMENT_MODE'] = 'DEV';
  process.env['LOG_LEVEL'] ||= 'WARNING';
  process.env['API_PORT'] = String(await choosePort(Number(process.env['API_PORT'] || 8080)));
  const token = ownToken(readSettings(process.env));
  const { serve } = await import('./serve.ts');
  const { port } = await serve();
  const client = createClient(`http://127.0.0.1:${port}`, token);

  const dates = weekdaysBefore(dateOf(new Date()), DEMO_WEEKDAYS);
  const request = { start_date: dates[0], end_date: dates.at(-1) };
  const job = v.parse(triggerResponse, await client.post('/simulate/trigger', request));
  print(`${job.message}, from ${request.start_date} to ${request.end_date}.`);
  const status = await watch(client, job.job_id);
  print(describeEnd(status));
  print(await summaryTable(client, status));
  print(nextSteps(`http://localhost:${port}`, { status, isGuarded: token !== null }));
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

/** Follows a job to its end: a live bar on a terminal, a line per finished date elsewhere. */
async function watch(client: Client, jobId: string): Promise<JobStatus> {
  const line = createProgressLine(process.stderr);
  let told = 0;
  for (;;) {
    const status = v.parse(statusResponse, await client.get(`/simulate/status/${jobId}`));
    const { total_model_days: total, pending } = status.progress;
    line.draw(total - pending, total, `${total - pending} of ${total} model-days, job ${status.status}`);
    const finished = finishedDates(status);
    if (!process.stderr.isTTY) for (const date of finished.slice(told)) process.stderr.write(`${date} simulated\n`);
    told = finished.length;
    if (status.completed_at !== null) {
      line.end();
      return status;
    }
    await sleep(POLL_INTERVAL_MS);
  }
}

function finishedDates({ date_range, details }: JobStatus): string[] {
  return date_range.filter((date) => details.every((detail) => detail.date !== date || detail.completed_at !== null));
}

function describeEnd({ status, total_duration_seconds, error, warnings, details }: JobStatus): string {
  const failures = details
    .filter((detail) => detail.status === 'failed')
    .map(({ date, model, error }) => `${date} ${model} failed: ${error}`);
  return [
    `The job is ${status} after ${total_duration_seconds} seconds.`,
    ...(error ? [error] : []),
    ...failures,
    ...(warnings ?? []),
  ]
    .map(forTerminal)
    .join('\n');
}

async function summaryTable(client: Client, status: JobStatus): Promise<string> {
  const rows = [['model', 'trades', 'refused orders', 'end value', 'return']];
  for (const model of status.models) {
    const query = new URLSearchParams({ job_id: status.job_id, model });
    const { results } = v.parse(resultsResponse, await client.get(`/results?${query}`));
    const last = results.at(-1);
    if (last !== undefined)
      rows.push([model, ...figures(results, { last, refusals: await countRefusals(client, query) })]);
  }
  return alignColumns(rows);
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
  const { sessions } = v.parse(
    reasoningResponse,
    await client.get(`/reasoning?${query}&include_full_conversation=true`),
  );
  const messages = sessions.flatMap(({ conversation }) => conversation ?? []);
  return messages.filter(
    ({ tool_name, content }) => (tool_name === 'buy' || tool_name === 'sell') && 'error' in JSON.parse(content),
  ).length;
}

/** The first column to the left, figures to the right. */
function alignColumns(rows: readonly string[][]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  '),
  );
  return ['', ...lines, ''].join('\n');
}

function nextSteps(baseUrl: string, { status, isGuarded }: { status: JobStatus; isGuarded: boolean }): string {
  const { job_id, models, date_range } = status;
  const day = new URLSearchParams({
    model: models[0] ?? '',
    date: date_range.at(-1) ?? '',
    include_full_conversation: 'true',
  });
  return [
    `Still serving; Ctrl-C ends it. Look next at${isGuarded ? ' (each but /health needs an access token)' : ''}`,
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
