import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { addDays, utcDate, weekdaysBefore } from '#time/calendar.ts';
import type { Status } from '../pages/responses.ts';
import { performanceResponse } from '../performance/response.ts';
import { triggerResponse } from '#api/trigger.ts';
import type { Application } from '#http/application.ts';
import { readServiceToken } from '#http/access.ts';
import { localUrl, readSettings, type Settings } from '#settings/settings.ts';
import { configurationFile } from '#process/program.ts';
import { count } from '#text/sentences.ts';
import { cleanText } from '#text/text.ts';
import { type Client, createClient } from '#commands/client.ts';
import { describeJobEnd, followJob } from '#commands/trigger-job.ts';
import { alignColumns } from '#commands/terminal.ts';

const DEMO_WEEKDAYS = 60;

/**
 * The command `demo`: serves in DEV mode, runs the last sixty weekdays for the models of its own
 * configuration as a client of its own service, prints the results, and keeps serving until Ctrl-C,
 * which shuts it down cleanly at any time (exit code 0). A configuration that was merged counts
 * instead; where there is neither, that of the service. `names` are those in `.env`.
 */
export async function demo(names: readonly string[], application: Application): Promise<void> {
  process.env['DEPLOYMENT_MODE'] = 'DEV';
  process.env['LOG_LEVEL'] ||= 'WARNING';
  process.env['MAX_SIMULATION_DAYS'] ||= '90';
  const settings = readSettings(process.env);
  const own = configurationFile('demo_config.json');
  if (settings.configurationPath === settings.defaultConfigurationPath && existsSync(own))
    process.env['RUNTIME_CONFIG_PATH'] = own;
  process.env['API_PORT'] = String(await choosePort(settings.apiPort));
  const token = readServiceToken(settings);
  const { serve } = await import('#commands/serve.ts');
  const { port } = await serve(names, application);
  const url = localUrl({ ...settings, apiPort: port });
  const client = createClient(url, token);
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    const status = await simulate(client, settings, stopping.signal);
    print(nextSteps(url.replace('127.0.0.1', 'localhost'), { status, isGuarded: token !== null }));
  } catch (error) {
    // The service is shutting down, which ends the process.
    if (!stopping.signal.aborted) throw error;
  }
}

async function simulate(
  client: Client,
  { maxSimulationDays }: Settings,
  signal: AbortSignal,
): Promise<Status> {
  const all = weekdaysBefore(utcDate(new Date()), DEMO_WEEKDAYS);
  const dates = all.filter((date) => date > addDays(all.at(-1) ?? date, -maxSimulationDays));
  const request = { start_date: dates[0], end_date: dates.at(-1) };
  const job = await client.post('/simulate/trigger', request, triggerResponse);
  print(
    `Simulating ${count(job.total_model_days, 'model-day')}, ${request.start_date} to ${request.end_date}.`,
  );
  const status = await followJob(client, job.job_id, { signal });
  print(describeJobEnd(status));
  print(await summaryTable(client, status));
  return status;
}

/** The requested port, or 0 (any free one) when another program uses it. */
async function choosePort(wanted: number): Promise<number> {
  const probe = createServer();
  const isFree = await new Promise<boolean>((resolve) => {
    probe.once('error', () => resolve(false)).listen(wanted, () => resolve(true));
  });
  if (!isFree) {
    print(`Port ${wanted} is in use; the demo uses a free one.`);
    return 0;
  }
  await new Promise((resolve) => probe.close(resolve));
  return wanted;
}

async function summaryTable(client: Client, { job_id, models }: Status): Promise<string> {
  const path = `/performance?job_id=${job_id}`;
  const { models: all } = await client.get(path, performanceResponse);
  const rows = models.flatMap((model) =>
    all
      .filter((one) => one.model === model)
      .map(({ trading: { trades, refused_orders }, end_value, total_return }) => {
        const figures = [String(trades), String(refused_orders), dollars(end_value)];
        return [cleanText(model), ...figures, percent(total_return)];
      }),
  );
  const head = ['model', 'trades', 'refused orders', 'end value', 'return'];
  return ['', ...alignColumns([head, ...rows]), ''].join('\n');
}

function dollars(value: number): string {
  return value.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
}

/** With a plus sign for a gain, as on the pages; none where the text shows only zeros. */
function percent(fraction: number | null): string {
  if (fraction === null) return '';
  const text = (fraction * 100).toFixed(2);
  return fraction > 0 && /[1-9]/.test(text) ? `+${text} %` : `${text} %`;
}

function nextSteps(
  baseUrl: string,
  { status, isGuarded }: { status: Status; isGuarded: boolean },
): string {
  const { job_id, models, date_range } = status;
  const day = new URLSearchParams({
    model: models[0] ?? '',
    date: date_range.at(-1) ?? '',
    include_full_conversation: 'true',
  });
  return [
    `Still serving; Ctrl-C ends it. Open ${baseUrl}/ in a browser: it says which model leads.`,
    `As JSON${isGuarded ? ', with an access token' : ''}:`,
    `  ${baseUrl}/simulate/status/${job_id}`,
    `  ${baseUrl}/results?job_id=${job_id}`,
    `  ${baseUrl}/reasoning?${day}`,
    `  ${baseUrl}/openapi.json`,
    'or start a job of your own:',
    `  curl -X POST ${baseUrl}/simulate/trigger -H 'Content-Type: application/json' \\`,
    ...(isGuarded ? ['    -H "Authorization: Bearer $API_TOKEN" \\'] : []),
    `    -d '{"end_date": "${date_range.at(-1)}", "models": ["${models[0]}"], "replace_existing": true}'`,
  ].join('\n');
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
