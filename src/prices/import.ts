import { statSync } from 'node:fs';
import { type CalendarDate, dateOf } from '../calendar.ts';
import type { CommandDatabase } from '../database/database.ts';
import { ServiceError, messageOf } from '../domain.ts';
import type { PriceFile } from './formats/bar.ts';
import { takeHeader } from './formats/cells.ts';
import { readCsv } from './formats/csv.ts';
import { type DividendFile, namesDividends, readDividendCsv } from './formats/dividends.ts';
import { readJson } from './formats/json.ts';
import { type LineBatch, readLines } from './formats/lines.ts';
import { type DividendSummary, importDividends } from './import-dividends.ts';
import type { ImportOptions } from './import-options.ts';
import { type PriceSummary, importRows } from './import-rows.ts';

export type { PriceSummary };
export type ImportSummary = PriceSummary | DividendSummary;

/**
 * Imports the daily bars or the dividends of one file in short transactions. Bad rows are reported
 * and skipped; a file in no known format, or a compressed one that is torn, throws a `ServiceError`
 * and changes nothing. Afterwards, every symbol is covered from its first to its last complete bar,
 * or ex-date.
 */
export async function importFile(
  database: CommandDatabase,
  path: string,
  options: ImportOptions,
): Promise<ImportSummary> {
  const today = dateOf(options.clock());
  const batches = readLines(path);
  try {
    const { size: totalBytes } = statSync(path);
    const tracked = track(batches, (bytesRead) => options.onProgress?.({ bytesRead, totalBytes }));
    const file = await detect(tracked, { path, today });
    if (file.kind === 'dividends')
      return refuseEmpty(
        await importDividends(database, file, { ...options, today }),
        'it has no dividends',
      );
    const whenEmpty = file.header === undefined ? 'it has no bars' : 'it has a header and no rows';
    return refuseEmpty(await importRows(database, file, { ...options, today }), whenEmpty);
  } catch (error) {
    throw new ServiceError('invalid_file', `Cannot import ${path}: ${messageOf(error)}`, {
      cause: error,
    });
  } finally {
    await batches.return(undefined); // closes a file that was not read to its end
  }
}

/** A file without any row, not even one that was refused, is none of prices or dividends. */
function refuseEmpty(summary: ImportSummary, reason: string): ImportSummary {
  const imported = summary.kind === 'prices' ? summary.bars : summary.symbols;
  if (imported === 0 && summary.refused.size === 0) throw new ServiceError('invalid_file', reason);
  return summary;
}

async function detect(
  batches: AsyncGenerator<LineBatch>,
  { path, today }: { path: string; today: CalendarDate },
): Promise<PriceFile | DividendFile> {
  const { value: first, done } = await batches.next();
  if (done === true) throw new ServiceError('invalid_file', 'it is empty');
  const [line = ''] = first.lines;
  const trimmed = { ...first, lines: [line.replace(/^\ufeff/, ''), ...first.lines.slice(1)] };
  const start = trimmed.lines.find((text) => text.trim() !== '')?.trimStart()[0];
  if (start === '{') return readJson(batches, trimmed, today);
  const header = takeHeader(trimmed);
  return namesDividends(header)
    ? readDividendCsv(batches, header, { path, today })
    : readCsv(batches, header, { path, today });
}

async function* track(
  batches: AsyncGenerator<LineBatch>,
  onBytes: (bytesRead: number) => void,
): AsyncGenerator<LineBatch> {
  for await (const batch of batches) {
    onBytes(batch.bytesRead);
    yield batch;
  }
}
