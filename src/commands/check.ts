import { statSync } from 'node:fs';
import { type AuditReport, type Finding, type Listed, audit, isSound } from '../audit/audit.ts';
import { readSettings } from '../settings.ts';
import { forTerminal } from '../text.ts';
import { createProgressLine } from './progress.ts';
import { number, size } from './words.ts';

const FAULTY = 1;
/** At most this many items of a list are printed; the others are counted. */
const MAX_PRINTED = 200;

/** The command `check [FILE]`: verifies a database without changing it. 0 when everything adds up, otherwise 1. */
export async function check(file?: string): Promise<number> {
  const path = file ?? readSettings(process.env).databasePath;
  const line = createProgressLine(process.stderr);
  endOnSignals();
  const onProgress = (done: number, total: number) =>
    line.draw(done, total, done < total ? `${number(done)} model-days` : 'model-days are done, the file is being read');
  const report = await audit(path, { onProgress }).finally(() => line.clear());
  process.stdout.write(describe(path, report));
  return isSound(report) ? 0 : FAULTY;
}

/** Exits by `process.exit`, which also ends the process that reads the file. */
function endOnSignals(): void {
  for (const [signal, number] of [['SIGINT', 2], ['SIGTERM', 15]] as const)
    process.once(signal, () => process.exit(128 + number));
}

function describe(path: string, report: AuditReport): string {
  const { models, modelDays, supersededModelDays, positions, damage, problems, unverifiable, stale } = report;
  const goneBackTo =
    supersededModelDays > 0 ? ` and ${number(supersededModelDays)} superseded that they depend on` : '';
  const what = `${number(modelDays)} model-days of ${number(models)} models${goneBackTo}, ${number(positions)} positions`;
  return [
    `${forTerminal(path)}, ${size(statSync(path).size)}`,
    ...(damage.length === 0 ? ['file: sound'] : ['file: damaged', ...damage.map((text) => `  ${forTerminal(text)}`)]),
    `ledger: ${what}`,
    ...(problems.total > 0
      ? findings('do not add up', problems)
      : [`  all ${unverifiable.total > 0 ? 'others ' : ''}add up`]),
    ...findings('cannot be verified, because the prices at the time are no longer stored', unverifiable),
    ...listed('stale (not an error): their start, prices, splits or dividends have changed since', stale, ({ model, date }) => [
      `${model} ${date}`,
    ]),
    '',
  ].join('\n');
}

function findings(title: string, list: Listed<Finding>): string[] {
  return listed(title, list, ({ model, date, sessionId, status, sentences }) => {
    const session = sessionId === null ? '' : ` (session ${sessionId}${status === 'active' ? '' : `, ${status}`})`;
    return [`${model} ${date}${session}`, ...sentences.map((sentence) => `  ${sentence}`)];
  });
}

/** A title with the number, and a bounded number of items below it; nothing when there are none. */
function listed<Item>(title: string, { first, total }: Listed<Item>, linesOf: (item: Item) => string[]): string[] {
  if (total === 0) return [];
  const printed = first.slice(0, MAX_PRINTED);
  const more = total > printed.length ? [`and ${number(total - printed.length)} more`] : [];
  const lines = [...printed.flatMap(linesOf), ...more].map((text) => `    ${forTerminal(text)}`);
  return [`  ${title}: ${number(total)}`, ...lines];
}
