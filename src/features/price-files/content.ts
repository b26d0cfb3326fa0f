import { createReadStream, type ReadStream, statSync } from 'node:fs';
import { pipeline } from 'node:stream';
import { errorCode, invalidFile, errorMessage } from '#domain/service-error.ts';
import { refuseOpenDatabase } from '#settings/trusted-file.ts';

/**
 * The content of a file, decompressed where its first bytes say that it is compressed, whatever its
 * name.
 */

const READ_BYTES = 128 * 1024;
/** As many first bytes as tell every format, and every byte order mark. */
const MAGIC_BYTES = 4;

/** The next bytes of the content, and how many bytes of the file have been read for them. */
interface Piece {
  bytes: Buffer;
  bytesRead: number;
}

interface Format {
  name: string;
  /** The first bytes in hexadecimal. */
  magic: RegExp;
}

const GZIP: Format = { name: 'gzip', magic: /^1f8b/ };
const UNREADABLE: readonly Format[] = [
  { name: 'a ZIP archive', magic: /^504b0304/ },
  { name: 'compressed by zstd', magic: /^(28b52ffd|5.2a4d18)/ },
  { name: 'compressed by bzip2', magic: /^425a68/ },
  { name: 'compressed by xz', magic: /^fd377a58/ },
  { name: 'a 7-Zip archive', magic: /^377abcaf/ },
];

/**
 * Reads a file in pieces, in memory that grows neither with the file nor with what it decompresses
 * to. A compressed file is read to its end first, so that a torn or damaged one throws before its
 * first piece.
 */
export async function* readContent(path: string): AsyncGenerator<Piece> {
  refuseOpenDatabase(path);
  await using plain = joinFirstPieces(readPlain(path));
  const { value: start } = await plain.next();
  const format = start && findFormat(start.bytes);
  if (format === undefined) {
    if (start) yield start;
    return yield* plain;
  }
  if (format !== GZIP)
    throw invalidFile(`it is ${format.name}: extract it first, or compress it by gzip`);
  if (!statSync(path).isFile())
    throw invalidFile('it is compressed by gzip and not a regular file: decompress it first');
  for await (const _ of decompress(path));
  let isFirst = true;
  for await (const piece of joinFirstPieces(decompress(path))) {
    if (isFirst && findFormat(piece.bytes))
      throw invalidFile('it is compressed twice: decompress it once');
    isFirst = false;
    yield piece;
  }
}

function findFormat(bytes: Buffer): Format | undefined {
  const start = bytes.toString('hex', 0, MAGIC_BYTES);
  return [GZIP, ...UNREADABLE].find(({ magic }) => magic.test(start));
}

/** Joins the first pieces until they tell the format; a pipe may deliver single bytes. */
async function* joinFirstPieces(pieces: AsyncGenerator<Piece>): AsyncGenerator<Piece> {
  let held: Piece | null = { bytes: Buffer.alloc(0), bytesRead: 0 };
  for await (const { bytes, bytesRead } of pieces) {
    const joined: Piece = { bytes: held ? Buffer.concat([held.bytes, bytes]) : bytes, bytesRead };
    held = held && joined.bytes.length < MAGIC_BYTES ? joined : null;
    if (held === null) yield joined;
  }
  if (held && held.bytes.length > 0) yield held;
}

/** From a place, because on some systems all descriptors of standard input's copy share one. */
function openFile(path: string): ReadStream {
  const from = statSync(path).isFile() ? { start: 0 } : {};
  return createReadStream(path, { ...from, highWaterMark: READ_BYTES });
}

async function* readPlain(path: string): AsyncGenerator<Piece> {
  let bytesRead = 0;
  for await (const chunk of openFile(path)) {
    const bytes: Buffer = chunk;
    bytesRead += bytes.length;
    yield { bytes, bytesRead };
  }
}

async function* decompress(path: string): AsyncGenerator<Piece> {
  const file = openFile(path);
  // Loaded by the first compressed file: a start of the service needs none.
  const decoder = process.getBuiltinModule('node:zlib').createGunzip();
  pipeline(file, decoder, () => {}); // its error ends the loop below too
  try {
    for await (const bytes of decoder) yield { bytes, bytesRead: file.bytesRead };
  } catch (error) {
    throw gzipError(error);
  }
}

function gzipError(error: unknown): unknown {
  const code = String(errorCode(error));
  if (code === 'Z_BUF_ERROR')
    return invalidFile(
      'its gzip data ends in the middle: the file is truncated, so nothing is imported',
    );
  if (!code.startsWith('Z_')) return error;
  return invalidFile(
    `its gzip data cannot be decompressed (${errorMessage(error)}), so nothing is imported`,
  );
}
