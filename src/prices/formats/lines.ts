import { StringDecoder } from 'node:string_decoder';
import { ServiceError } from '../../domain.ts';
import { readContent } from './content.ts';

/**
 * One line, or one whole JSON document, is held in memory; a symbol's bars of fifty years take a
 * tenth of this.
 */
export const MAX_DOCUMENT_LENGTH = 32 * 1024 * 1024;

export interface LineBatch {
  /** The number of the first line, counted from 1. */
  firstLine: number;
  lines: string[];
  /** Bytes of the file read so far. */
  bytesRead: number;
}

/** Returns a batch that was already taken, and all after it. */
export async function* startingWith(
  first: LineBatch,
  rest: AsyncIterator<LineBatch>,
): AsyncGenerator<LineBatch> {
  yield first;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

/**
 * Reads a text file, compressed or not, in batches of whole lines, in memory that does not grow
 * with the file. The text is UTF-8, or UTF-16 where a byte order mark says so.
 */
export async function* readLines(path: string): AsyncGenerator<LineBatch> {
  let decode: ((bytes: Buffer) => string) | undefined;
  let lineEnd: string | undefined;
  let unfinished: string[] = []; // the pieces of a line, joined once, however many there are
  let unfinishedLength = 0;
  let firstLine = 1;
  let bytesRead = 0;
  for await (const piece of readContent(path)) {
    bytesRead = piece.bytesRead;
    decode ??= createDecoder(piece.bytes);
    const text = decode(piece.bytes);
    lineEnd ??= lineEndOf(text);
    const lines = text.split(lineEnd);
    const rest = lines.pop() ?? '';
    if (lines.length > 0) {
      lines[0] = [...unfinished, lines[0]].join('');
      unfinished = [];
      unfinishedLength = 0;
    }
    unfinished.push(rest);
    unfinishedLength += rest.length;
    if (unfinishedLength > MAX_DOCUMENT_LENGTH)
      throw new ServiceError(
        'invalid_file',
        `line ${firstLine + lines.length} is longer than ${MAX_DOCUMENT_LENGTH} characters`,
      );
    if (lines.length > 0) yield { firstLine, lines, bytesRead };
    firstLine += lines.length;
  }
  if (unfinishedLength > 0) yield { firstLine, lines: [unfinished.join('')], bytesRead };
}

/**
 * LF, with or without CR before it; or only CR, as old programs write it, where a text begins so.
 */
function lineEndOf(start: string): string {
  const isOld = !start.includes('\n') && start.slice(0, -1).includes('\r');
  return isOld ? '\r' : '\n';
}

/**
 * The decoder of a text that begins with these bytes; it keeps back what a piece has of an
 * unfinished character.
 */
function createDecoder(start: Buffer): (bytes: Buffer) => string {
  const mark = start.toString('hex', 0, 2);
  if (mark === 'fffe' || mark === 'feff') {
    const utf16 = new TextDecoder(mark === 'fffe' ? 'utf-16le' : 'utf-16be');
    return (bytes) => utf16.decode(bytes, { stream: true });
  }
  const utf8 = new StringDecoder('utf8');
  return (bytes) => utf8.write(bytes);
}
