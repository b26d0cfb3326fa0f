import { statSync } from 'node:fs';
import { type AuditReport, audit, isSound } from '../audit/audit.ts';
import { type Older, withNewestSchema } from '../database/newest-schema.ts';
import { readSettings } from '../settings.ts';
import { forTerminal } from '../text.ts';
import { findings, listed } from './findings.ts';
import { type ProgressLine, createProgressLine } from './progress.ts';
import { number, size } from './words.ts';

const FAULTY = 1;

/**
 * The command `check [FILE]`: verifies a database without changing it, and with `isReplay` plays its model-days again. 0 when
 * everything adds up and nothing differs, otherwise 1.
 */
export async function check(file: string | undefined, { isReplay }: { isReplay: boolean }): Promise<number> {
  const path = file ?? readSettings(process.env).databasePath;
  const line = createProgressLine(process.stderr);
  endOnSignals();
  const onProgress = (done: number, total: number) =>
    line.draw(done, total, done < total ? `${number(done)} model-days` : 'model-days are done, the file is being read');
  return withNewestSchema(path, async (current, older) => {
    const report = await audit(current, { onProgress }).finally(() => line.clear());
    report.damage.unshift(...(older?.damage ?? []));
    process.stdout.write(describe(path, { report, older }));
    const isRight = isReplay ? await replayAfter(current, line) : true;
    return isSound(report) && isRight ? 0 : FAULTY;
  });
}

/** Replays and prints what comes of it; returns whether nothing differs. */
async function replayAfter(path: string, line: ProgressLine): Promise<boolean> {
  const { describeReplay } = await import('./replay-words.ts');
  const { isSame, replay } = await import('../replay/replay.ts');
  const onProgress = (done: number, total: number) => line.draw(done, total, `${number(done)} model-days replayed`);
  const report = await replay(path, { onProgress }).finally(() => line.clear());
  process.stdout.write(describeReplay(report));
  return isSame(report);
}

/** Exits by `process.exit`, which also ends the process that reads the file. */
function endOnSignals(): void {
  for (const [signal, number] of [['SIGINT', 2], ['SIGTERM', 15]] as const)
    process.once(signal, () => process.exit(128 + number));
}

function describe(path: string, { report, older }: { report: AuditReport; older: Older | null }): string {
  const { models, modelDays, supersededModelDays, positions, damage, problems, unverifiable, stale } = report;
  const goneBackTo =
    supersededModelDays > 0 ? ` and ${number(supersededModelDays)} superseded that they depend on` : '';
  const what = `${number(modelDays)} model-days of ${number(models)} models${goneBackTo}, ${number(positions)} positions`;
  return [
    `${forTerminal(path)}, ${size(statSync(path).size)}`,
    ...(older === null ? [] : [`schema: version ${older.version}, of an earlier program; what follows is of a migrated copy`]),
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
