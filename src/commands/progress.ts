const BAR_WIDTH = 30;

/** One line on a terminal that is drawn again and again; elsewhere nothing is drawn. */
export interface ProgressLine {
  draw(done: number, total: number, text: string): void;
  /** Leaves the last state standing and goes to the next line. */
  end(): void;
  /** Takes the line away, so that something else can be printed. */
  clear(): void;
}

export function createProgressLine(stream: NodeJS.WriteStream): ProgressLine {
  let drawn = '';
  const write = (text: string) => {
    if (stream.isTTY && text !== drawn) stream.write(`\r\u001b[K${text}`);
    drawn = text;
  };
  return {
    draw(done, total, text) {
      const share = total === 0 ? 0 : Math.min(1, done / total);
      const filled = Math.round(share * BAR_WIDTH);
      const percent = `${Math.floor(share * 100)}`.padStart(3);
      write(
        `[${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}] ${percent} % ${text}`.slice(
          0,
          (stream.columns ?? 80) - 1,
        ),
      );
    },
    end() {
      if (stream.isTTY && drawn !== '') stream.write('\n');
      drawn = '';
    },
    clear() {
      write('');
    },
  };
}
