const BAR_WIDTH = 30;
const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;

/** Lines at the end of a terminal that are drawn again and again; elsewhere nothing is drawn. */
export interface LiveBlock {
  draw(lines: readonly string[]): void;
  /** Leaves the last state standing and goes to the next line. */
  end(): void;
  /** Takes the lines away, so that something else can be printed. */
  clear(): void;
}

/** What fits on a terminal without wrapping or scrolling; some say 0 where they do not know their size. */
export function sizeOf({ columns, rows }: { columns?: number; rows?: number }): { columns: number; rows: number } {
  return { columns: (columns || DEFAULT_COLUMNS) - 1, rows: Math.max(1, (rows || DEFAULT_ROWS) - 1) };
}

export function createLiveBlock(stream: NodeJS.WriteStream): LiveBlock {
  let drawn: readonly string[] = [];
  const write = (lines: readonly string[]) => {
    const isSame = lines.length === drawn.length && lines.every((line, index) => line === drawn[index]);
    if (stream.isTTY && !isSame) {
      const up = drawn.length > 1 ? `\u001b[${drawn.length - 1}A` : '';
      // Without wrapping meanwhile: characters may be wider than they count.
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

/** A bar with percent and a text, drawn again and again on a terminal. */
export interface ProgressLine extends Omit<LiveBlock, 'draw'> {
  draw(done: number, total: number, text: string): void;
}

export function createProgressLine(stream: NodeJS.WriteStream): ProgressLine {
  const block = createLiveBlock(stream);
  return { ...block, draw: (done, total, text) => block.draw([progressBar(done, total, text)]) };
}

export function progressBar(done: number, total: number, text: string): string {
  const share = total === 0 ? 0 : Math.min(1, done / total);
  const filled = Math.round(share * BAR_WIDTH);
  const percent = `${Math.floor(share * 100)}`.padStart(3);
  return `[${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}] ${percent} % ${text}`;
}
