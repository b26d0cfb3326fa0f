import { fstatSync, writeFileSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { forTerminal } from '#text/text.ts';
import { errorCode } from '#domain/service-error.ts';

const BYTES_PER_KB = 1_000;
const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'];

/** "1.2 MB". */
export function formatSize(bytes: number): string {
  let value = bytes;
  let unit = 0;
  for (; value >= BYTES_PER_KB && unit < UNITS.length - 1; unit += 1) value /= BYTES_PER_KB;
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}

/** Rows as lines of aligned columns: the first to the left, figures to the right. */
export function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const columnWidth = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  return rows.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(columnWidth(0)) : cell.padStart(columnWidth(column)),
      )
      .join('  ')
      .trimEnd(),
  );
}

type Output = Writable & { isTTY?: boolean; fd?: number };

/**
 * Lets this process outlive the reader of what it prints, as in `check | head`: it ends by itself,
 * quietly and with its own exit code, and a service keeps running when the program that reads its
 * log has ended, or its terminal was closed. Without this, Node would end it with a stack trace.
 */
export function ignoreBrokenPipe(
  streams: readonly Output[] = [process.stdout, process.stderr],
): void {
  for (const stream of streams) {
    const { fd } = stream;
    // Node takes a piece of which a full disk has written only a part for a whole one. What is
    // printed fails then; a line of a log is left out, because a service waits for room.
    if (fd !== undefined && fstatSync(fd).isFile())
      stream._write = (piece, _encoding, done) => {
        try {
          writeFileSync(fd, piece);
        } catch (error) {
          if (stream === process.stdout) throw error;
        }
        done();
      };
    stream.on('error', (error) => {
      const isTerminalLost = stream.isTTY === true && errorCode(error) === 'EIO'; // of a file, it is a fault of the disk
      const isReaderLost = errorCode(error) === 'EPIPE'; // it has ended, or closed the pipe
      if (!isReaderLost && !isTerminalLost) throw error;
    });
  }
}

const BAR_WIDTH = 30;
const DEFAULT_COLUMNS = 80;

/** A bar with percent and a text at the bottom of a terminal; nothing is drawn elsewhere. */
export function createProgressLine(stream: Output & { columns?: number }) {
  let drawn = '';
  const write = (line: string) => {
    // Wrapping is off meanwhile: characters may be wider than their count.
    if (stream.isTTY && line !== drawn) stream.write(`\r\u001b[J\u001b[?7l${line}\u001b[?7h`);
    drawn = line;
  };
  return {
    // Some terminals report 0 columns when they do not know theirs.
    draw: (done: number, total: number, text: string) =>
      write(progressBar(done, total, text).slice(0, (stream.columns || DEFAULT_COLUMNS) - 1)),
    /** Removes the line, so that something else can be printed. */
    clear: () => write(''),
    /** Keeps the last state on the screen and moves to the next line. */
    end() {
      if (stream.isTTY && drawn !== '') stream.write('\n');
      drawn = '';
    },
  };
}

export function progressBar(done: number, total: number, text: string): string {
  const share = total === 0 ? 0 : Math.min(1, done / total);
  const filled = Math.round(share * BAR_WIDTH);
  const percent = `${Math.floor(share * 100)}`.padStart(3);
  return `[${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}] ${percent} % ${forTerminal(text)}`;
}

/** The exit code of a command stopped by SIGINT, as shells number it. */
const STOPPED = 130;

/** While something long is written: receives the fraction that is done; the signal stops it. */
export interface Watched {
  onProgress?: (share: number) => void;
  signal?: AbortSignal;
}

/**
 * Does work that writes `target`, with a progress line, and prints its result. Returns the exit
 * code: 0, or 130 when SIGINT or SIGTERM stopped the work. Throws what the work throws for other
 * reasons.
 */
export async function writeWithProgress(
  target: string,
  work: (watched: Required<Watched>) => Promise<string>,
): Promise<number> {
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  process.on('SIGINT', stop).on('SIGTERM', stop);
  const line = createProgressLine(process.stderr);
  try {
    const onProgress = (share: number) => line.draw(share, 1, target);
    const { signal } = stopping;
    process.stdout.write(await work({ signal, onProgress }).finally(() => line.clear()));
    return 0;
  } catch (error) {
    if (stopping.signal.aborted) return STOPPED;
    throw error;
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}
