import { statSync } from 'node:fs';
import { createProgressLine, formatSize } from './terminal.ts';
import { auditDatabase, isSound } from '#verify/database-audit.ts';
import type { AuditReport, Finding } from '#verify/replay.ts';
import type { Listed } from '#domain/vocabulary.ts';
import { withSnapshot } from '#database/snapshot.ts';
import { MISSING_SUFFIX } from '#database/integrity.ts';
import { STALE_CAUSE } from '#database/stale.ts';
import { tablesInManifest } from '#database/manifest.ts';
import { readSettings } from '#settings/settings.ts';
import { studiesOfJobs } from '#database/job-queries.ts';
import { compact, formatNumber, list, plural } from '#text/sentences.ts';
import { forTerminal } from '#text/text.ts';
import { type Meaning, meanings } from '#database/schema/price-conditions.ts';
import { parseChoice, WrongUsage, findDatabase } from './arguments.ts';

/** What the replay of a ledger says besides its findings, as lines for the terminal. */
function describeReplay(report: AuditReport): string {
  const { modelDays, same, superseded, fromOutside } = report;
  const others =
    superseded.modelDays === 0
      ? ''
      : `, and ${formatNumber(superseded.same)} of ${formatNumber(superseded.modelDays)} superseded`;
  return compact([
    `replay: ${formatNumber(same)} of ${formatNumber(modelDays)} model-days replayed${others}: same reports, same answers, same books`,
    fromOutside > 0 &&
      `  taken from the record, because they came from outside: ${formatNumber(fromOutside)} news results`,
    '',
  ]).join('\n');
}

/** Prints every difference from the reader's own files; returns whether there is none. */
export type CompareWithFiles = (
  path: string,
  names: readonly string[],
  as: Meaning | undefined,
) => Promise<boolean>;

const FAULTY = 1;

/**
 * The command `check [FILE]`: verifies a database without changing it, with `replay` says more of
 * how its model-days were played again, and compares what they used with the files of `prices`. 0
 * when everything adds up and nothing differs, otherwise 1.
 */
export async function check(
  file: string | undefined,
  { replay, prices, as }: { replay: boolean; prices: readonly string[]; as: string | undefined },
  compareWithFiles: CompareWithFiles,
): Promise<number> {
  const declared = parseChoice('--as', meanings, as);
  if (declared !== undefined && prices.length === 0)
    throw new WrongUsage('--as says what the files of --prices are; give at least one');
  const path = file ?? findDatabase(readSettings(process.env));
  const line = createProgressLine(process.stderr);
  endOnSignals();
  const onProgress = (done: number, total: number) => {
    const words =
      done < total
        ? `${formatNumber(done)} model-days`
        : 'model-days are done, the file is being read';
    line.draw(done, total, words);
  };
  const report = await auditDatabase(path, { onProgress }).finally(() => line.clear());
  const kind = await withSnapshot(path, (reader) => ({
    tables: tablesInManifest(reader),
    studies: studiesOfJobs(reader),
  }));
  process.stdout.write(describeAudit(path, report, kind));
  if (replay) process.stdout.write(describeReplay(report));
  const isReal = prices.length === 0 || (await compareWithFiles(path, prices, declared));
  return isSound(report) && isReal ? 0 : FAULTY;
}

/** Exits by `process.exit`, which also ends the process that reads the file. */
function endOnSignals(): void {
  process.once('SIGINT', () => process.exit(130)).once('SIGTERM', () => process.exit(143));
}

/** What a sound file is, by the number of tables in its manifest. */
function soundFile(tables: number | null): string {
  if (tables === null) return 'file: sound';
  if (tables > 0) return `file: sound, and all ${tables} tables are as its manifest states them`;
  return 'file: sound; a package loses its manifest when a service opens it, so edits of times, costs and model text cannot be found';
}

function faultyFile(damage: readonly string[], tables: number | null): string {
  if (tables)
    return 'file: changed after the package was made, or damaged; ask its author for it again';
  return damage.every((finding) => finding.endsWith(MISSING_SUFFIX))
    ? 'file: rows are missing, as after a DELETE by another program: restore a backup'
    : 'file: its file is damaged; restore a backup';
}

/** `tables` are those in its manifest. */
function describeAudit(
  path: string,
  report: AuditReport,
  { tables, studies }: { tables: number | null; studies: readonly string[] },
): string {
  const { models, modelDays, superseded, positions, damage, problems, unverifiable, stale } =
    report;
  const replaced =
    superseded.modelDays > 0 ? ` and ${formatNumber(superseded.modelDays)} superseded` : '';
  const what = `${plural(modelDays, 'model-day')} of ${plural(models, 'model')}${replaced}, ${plural(positions, 'position')}`;
  return compact([
    `${forTerminal(path)}, ${formatSize(statSync(path).size)}`,
    damage.length === 0 ? soundFile(tables) : faultyFile(damage, tables),
    ...damage.map((text) => `  ${forTerminal(text)}`),
    `ledger: ${what}`,
    studies.length > 0 && `studies: ${forTerminal(list(studies))}`,
    ...findings('do not add up', problems),
    problems.total === 0 && `  all ${unverifiable.total > 0 ? 'others ' : ''}add up`,
    ...findings(
      'cannot be verified, because the prices at the time are no longer stored',
      unverifiable,
    ),
    ...describeList(`stale (not an error): ${STALE_CAUSE}`, stale, ({ model, date }) => [
      `${model} ${date}`,
    ]),
    stale.remedy !== '' && `    ${forTerminal(stale.remedy)}`,
    '',
  ]).join('\n');
}

/** At most this many items of a list are printed; the others are counted. */
const MAX_PRINTED = 200;

/** What was found in model-days, below a title. */
function findings(title: string, list: Listed<Finding>): string[] {
  return describeList(title, list, ({ model, date, sessionId, status, sentences }) => {
    const session =
      sessionId === null
        ? ''
        : ` (session ${sessionId}${status === 'active' ? '' : `, ${status}`})`;
    return [`${model} ${date}${session}`, ...sentences.map((sentence) => `  ${sentence}`)];
  });
}

/** A title with the number, and a bounded number of items below it; nothing when there are none. */
function describeList<Item>(
  title: string,
  { first, total }: Listed<Item>,
  wordsOf: (item: Item) => string[],
): string[] {
  if (total === 0) return [];
  const printed = first.slice(0, MAX_PRINTED);
  const more = total > printed.length ? [`and ${formatNumber(total - printed.length)} more`] : [];
  const lines = [...printed.flatMap(wordsOf), ...more].map((text) => `    ${forTerminal(text)}`);
  return [`  ${title}: ${formatNumber(total)}`, ...lines];
}
