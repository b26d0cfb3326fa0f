import { MAX_LINE_BYTES } from './protocol.ts';

const NEWLINE = 10;

/**
 * Cuts a byte stream into lines. Returns the function that receives the chunks; calls `onTooLong`
 * once when a line exceeds `MAX_LINE_BYTES`, after which nothing is read.
 */
export function createLineReader(
  onLine: (line: string) => void,
  onTooLong: () => void,
): (chunk: Buffer) => void {
  // Copied together, because a child that writes byte by byte would otherwise leave one object per
  // byte.
  let pending = Buffer.alloc(0);
  let pendingBytes = 0;
  let stopped = false;
  const keep = (part: Buffer) => {
    if (pendingBytes + part.length > pending.length) {
      const larger = Buffer.allocUnsafe(2 * (pendingBytes + part.length));
      pending.copy(larger, 0, 0, pendingBytes);
      pending = larger;
    }
    part.copy(pending, pendingBytes);
    pendingBytes += part.length;
  };
  const complete = (part: Buffer): string => {
    if (pendingBytes === 0) return part.toString();
    keep(part);
    const line = pending.toString('utf8', 0, pendingBytes);
    pending = Buffer.alloc(0);
    pendingBytes = 0;
    return line;
  };
  return (chunk) => {
    let start = 0;
    for (
      let end = chunk.indexOf(NEWLINE);
      end !== -1 && !stopped;
      end = chunk.indexOf(NEWLINE, start)
    ) {
      const line = complete(chunk.subarray(start, end));
      start = end + 1;
      onLine(line);
    }
    if (stopped || start === chunk.length) return;
    if (pendingBytes + chunk.length - start <= MAX_LINE_BYTES) return keep(chunk.subarray(start));
    stopped = true;
    pending = Buffer.alloc(0);
    onTooLong();
  };
}
