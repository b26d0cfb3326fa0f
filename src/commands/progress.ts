import { forTerminal } from '../text.ts';

const BAR_WIDTH = 30;
const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;

/** Where a block is drawn: a terminal, or any other stream, which shows nothing of it. */
interface Screen {
  write(text: string): unknown;
  isTTY?: boolean;
  columns?: number;
  rows?: number;
}

/** Lines at the bottom of a terminal that are redrawn; nothing is drawn elsewhere. */
export interface LiveBlock {
  draw(lines: readonly string[]): void;
  /** Keeps the last state on the screen and moves to the next line. */
  end(): void;
  /** Removes the lines, so that something else can be printed. */
  clear(): void;
}

/**
 * The size that fits a terminal without wrapping or scrolling; some report 0 when they do not know
 * theirs.
 */
export function sizeOf({ columns, rows }: { columns?: number; rows?: number }): {
  columns: number;
  rows: number;
} {
  return {
    columns: (columns || DEFAULT_COLUMNS) - 1,
    rows: Math.max(1, (rows || DEFAULT_ROWS) - 1),
  };
}

export function createLiveBlock(stream: Screen): LiveBlock {
  let drawn: readonly string[] = [];
  const write = (lines: readonly string[]) => {
    const isSame =
      lines.length === drawn.length && lines.every((line, index) => line === drawn[index]);
    if (stream.isTTY && !isSame) {
      const up = drawn.length > 1 ? `\u001b[${drawn.length - 1}A` : '';
      // Wrapping is off meanwhile: characters may be wider than their count.
      stream.write(`\r${up}\u001b[J\u001b[?7l${lines.join('\n')}\u001b[?7h`);
    }
    drawn = lines;
  };
  return {
    draw(lines) {
      const { columns, rows } = sizeOf(stream);
      write(lines.slice(0, rows).map((line) => line.slice(0, columns)));
    },
    end() {
      if (stream.isTTY && drawn.length > 0) stream.write('\n');
      drawn = [];
    },
    clear() {
      write([]);
    },
  };
}

/** A bar with percent and a text, redrawn on a terminal. */
export interface ProgressLine extends Omit<LiveBlock, 'draw'> {
  draw(done: number, total: number, text: string): void;
}

export function createProgressLine(stream: Screen): ProgressLine {
  const block = createLiveBlock(stream);
  return { ...block, draw: (done, total, text) => block.draw([progressBar(done, total, text)]) };
}

export function progressBar(done: number, total: number, text: string): string {
  const share = total === 0 ? 0 : Math.min(1, done / total);
  const filled = Math.round(share * BAR_WIDTH);
  const percent = `${Math.floor(share * 100)}`.padStart(3);
  return `[${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}] ${percent} % ${forTerminal(text)}`;
}
