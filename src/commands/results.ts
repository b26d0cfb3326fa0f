import { pipeline } from 'node:stream/promises';
import type * as v from 'valibot';
import { resultsResponse } from '../api/results.ts';
import { formatDollars, reported, unitsIn } from '../basics/money.ts';
import { cleanText, showLines } from '../basics/text.ts';
import { checkDates, checkJob, checkModel, connect } from './client.ts';
import { alignColumns, isReaderLost, signed } from './terminal.ts';

const HEADER = [
  'date',
  'model',
  'action',
  'symbol',
  'amount',
  'price',
  'cash',
  'value',
  'day profit',
  'day return',
];
const TEXT_COLUMNS = 4;

type ResultsRecord = v.InferOutput<typeof resultsResponse>['results'][number];

interface Arguments {
  job: string | undefined;
  model: string | undefined;
  date: string | undefined;
  csv: boolean;
  url: string | undefined;
}

/**
 * The command `results`: prints the records of a running service as a table, or as its own CSV. 1
 * for an unknown model or job.
 */
export async function results({ job, model, date, csv, url }: Arguments): Promise<number> {
  checkDates({ date });
  const client = connect(url);
  if (model !== undefined) await checkModel(client, model);
  if (job !== undefined) await checkJob(client, job);
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ job_id: job, model, date }))
    if (value !== undefined) query.set(name, value);
  if (csv) {
    query.set('format', 'csv');
    return print(await client.stream(`/results?${query}`));
  }
  const { results: records } = await client.get(`/results?${query}`, resultsResponse);
  if (records.length > 0)
    return print(
      alignColumns([HEADER, ...records.map(cellsOf)], TEXT_COLUMNS).map((line) => `${line}\n`),
    );
  process.stderr.write('No records match.\n');
  return 0;
}

function cellsOf(record: ResultsRecord): string[] {
  const {
    date,
    model,
    action_type,
    symbol,
    amount,
    price,
    cash,
    portfolio_value,
    daily_profit,
    daily_return_pct,
  } = record;
  const dollars = (amountInDollars: number | null) =>
    amountInDollars === null ? '' : formatDollars(reported(unitsIn(amountInDollars)));
  return [
    date,
    cleanText(model),
    action_type ?? '',
    cleanText(symbol ?? ''),
    String(amount ?? ''),
    dollars(price),
    dollars(cash),
    dollars(portfolio_value),
    signed(daily_profit, dollars(daily_profit)),
    daily_return_pct === null ? '' : `${signed(daily_return_pct, daily_return_pct.toFixed(2))} %`,
  ];
}

/** Writes to stdout as fast as it is read. A reader that closes the pipe early is not an error. */
async function print(pieces: AsyncIterable<string> | Iterable<string>): Promise<number> {
  const { isTTY } = process.stdout;
  const shown = async function* () {
    for await (const piece of pieces) yield isTTY ? showLines(piece) : piece;
  };
  try {
    await pipeline(shown, process.stdout, { end: false });
  } catch (error) {
    if (!isReaderLost(error)) throw error;
  }
  return 0;
}
