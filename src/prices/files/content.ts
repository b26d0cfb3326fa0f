import { createReadStream, statSync } from 'node:fs';
import { pipeline } from 'node:stream';
import type { Gunzip, ZstdDecompress } from 'node:zlib';
import { codeOf, messageOf, ServiceError } from '../../basics/domain.ts';
import { refuseOpenDatabase } from '../../basics/trusted-file.ts';

/**
 * The content of a file, decompressed where its first bytes say that it is compressed, whatever its
 * name.
 */

const READ_BYTES = 128 * 1024;
/** As many first bytes as tell every format, and every byte order mark. */
const TELLING_BYTES = 4;

/** The next bytes of the content, and how many bytes of the file have been read for them. */
export interface Piece {
  bytes: Buffer;
  bytesRead: number;
}

interface Compression {
  name: string;
  /** The first bytes in hexadecimal. */
  magic: RegExp;
  create: () => Gunzip | ZstdDecompress;
  /**
   * Whether Node's decoder ends after one of several parts, and before Node 24.21 takes a torn part
   * for whole.
   */
  needsHelp: boolean;
}

/** Loaded by the first compressed file: a start of the service needs none. */
const zlib = () => process.getBuiltinModule('node:zlib');

const COMPRESSIONS: readonly Compression[] = [
  { name: 'gzip', magic: /^1f8b/, create: () => zlib().createGunzip(), needsHelp: false },
  {
    name: 'zstd',
    magic: /^(28b52ffd|5.2a4d18)/,
    create: () => zlib().createZstdDecompress(),
    needsHelp: true,
  },
];
const ARCHIVES = [
  { name: 'a ZIP archive', magic: /^504b0304/ },
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
  await using plain = withTellingBytes(readPlain(path));
  const { value: start } = await plain.next();
  const compression = start && formatOf(start.bytes, COMPRESSIONS);
  if (compression === undefined) {
    if (start) yield refuseArchive(start);
    return yield* plain;
  }
  if (!statSync(path).isFile())
    throw invalidFile(
      `it is compressed by ${compression.name} and not a regular file: decompress it first`,
    );
  await checkWhole(path, compression);
  let isFirst = true;
  for await (const piece of withTellingBytes(decompress(path, compression))) {
    if (isFirst && formatOf(piece.bytes, COMPRESSIONS))
      throw invalidFile('it is compressed twice: decompress it once');
    isFirst = false;
    yield piece;
  }
}

function formatOf<Format extends { magic: RegExp }>(
  bytes: Buffer,
  formats: readonly Format[],
): Format | undefined {
  const start = bytes.toString('hex', 0, TELLING_BYTES);
  return formats.find(({ magic }) => magic.test(start));
}

function refuseArchive(start: Piece): Piece {
  const archive = formatOf(start.bytes, ARCHIVES);
  if (archive !== undefined)
    throw invalidFile(`it is ${archive.name}: extract it first, or compress it by gzip or zstd`);
  return start;
}

/** Joins the first pieces until they tell the format; a pipe may deliver single bytes. */
async function* withTellingBytes(pieces: AsyncGenerator<Piece>): AsyncGenerator<Piece> {
  let held: Piece | null = { bytes: Buffer.alloc(0), bytesRead: 0 };
  for await (const { bytes, bytesRead } of pieces) {
    const joined: Piece = { bytes: held ? Buffer.concat([held.bytes, bytes]) : bytes, bytesRead };
    held = held && joined.bytes.length < TELLING_BYTES ? joined : null;
    if (held === null) yield joined;
  }
  if (held && held.bytes.length > 0) yield held;
}

async function* readPlain(path: string): AsyncGenerator<Piece> {
  let bytesRead = 0;
  // From a place, because on some systems all descriptors of standard input's copy share one.
  const from = statSync(path).isFile() ? { start: 0 } : {};
  for await (const chunk of createReadStream(path, { ...from, highWaterMark: READ_BYTES })) {
    const bytes: Buffer = chunk;
    bytesRead += bytes.length;
    yield { bytes, bytesRead };
  }
}

async function* decompress(
  path: string,
  { name, create, needsHelp }: Compression,
): AsyncGenerator<Piece> {
  const { size } = statSync(path);
  for (let start = 0; start < size; ) {
    const file = createReadStream(path, { start, highWaterMark: READ_BYTES });
    const decoder = create();
    pipeline(file, decoder, () => {}); // its error ends the loop below too
    try {
      for await (const bytes of decoder) yield { bytes, bytesRead: start + file.bytesRead };
    } catch (error) {
      throw faultOf(error, name);
    }
    if (!needsHelp) return;
    if (decoder.bytesWritten === 0) throw damaged(name, 'nothing can be decoded');
    start += decoder.bytesWritten;
  }
}

async function checkWhole(path: string, compression: Compression): Promise<void> {
  if (compression.needsHelp && (await endsWithinFrame(readPlain(path))))
    throw torn(compression.name);
  for await (const _ of decompress(path, compression));
}

function faultOf(error: unknown, name: string): unknown {
  const code = String(codeOf(error));
  if (code === 'Z_BUF_ERROR') return torn(name);
  return /^(Z_|ZSTD_)/.test(code) ? damaged(name, messageOf(error)) : error;
}

function torn(name: string): ServiceError {
  return invalidFile(
    `its ${name} data ends in the middle: the file is torn, so nothing of it is used`,
  );
}

function damaged(name: string, why: string): ServiceError {
  return invalidFile(`its ${name} data cannot be decompressed (${why}), so nothing of it is used`);
}

/** The error for a file that cannot be used, with what is wrong with it. */
export function invalidFile(problem: string): ServiceError {
  return new ServiceError('invalid_file', problem);
}

/** The outline of zstd data (RFC 8878, 3.1): enough to tell whether its last frame is whole. */

const FRAME = 0xfd2fb528;
const SKIPPABLE_FRAME = 0x184d2a50;
const SKIPPABLE_MASK = 0xfffffff0;
const RLE_BLOCK = 1;
const DICTIONARY_BYTES = [0, 1, 2, 4];
const CONTENT_SIZE_BYTES = [0, 2, 4, 8];

type ByteReader = ReturnType<typeof createReader>;

/**
 * Whether the data ends within a frame. Data that is not a frame counts as an end: the decoder
 * reports it.
 */
export async function endsWithinFrame(pieces: AsyncGenerator<{ bytes: Buffer }>): Promise<boolean> {
  const reader = createReader(pieces);
  try {
    while (!(await reader.isAtEnd())) {
      const isWhole = await passFrame(reader);
      if (isWhole === null) return false;
      if (!isWhole) return true;
    }
    return false;
  } finally {
    await pieces.return(undefined);
  }
}

/** Null where no frame begins. */
async function passFrame(reader: ByteReader): Promise<boolean | null> {
  const magic = (await reader.read(4))?.readUInt32LE();
  if (magic === undefined) return false;
  if ((magic & SKIPPABLE_MASK) >>> 0 === SKIPPABLE_FRAME) {
    const size = (await reader.read(4))?.readUInt32LE();
    return size !== undefined && reader.skip(size);
  }
  if (magic !== FRAME) return null;
  const descriptor = (await reader.read(1))?.readUInt8();
  return descriptor !== undefined && passBlocks(reader, descriptor);
}

async function passBlocks(reader: ByteReader, descriptor: number): Promise<boolean> {
  const isSingleSegment = (descriptor & 0b10_0000) !== 0;
  const hasChecksum = (descriptor & 0b100) !== 0;
  const sizeFlag = descriptor >> 6;
  const contentSizeBytes =
    sizeFlag === 0 && isSingleSegment ? 1 : (CONTENT_SIZE_BYTES[sizeFlag] ?? 0);
  const rest =
    (isSingleSegment ? 0 : 1) + (DICTIONARY_BYTES[descriptor & 0b11] ?? 0) + contentSizeBytes;
  if (!(await reader.skip(rest))) return false;
  for (let isLast = false; !isLast; ) {
    const header = (await reader.read(3))?.readUIntLE(0, 3);
    if (header === undefined) return false;
    isLast = (header & 1) === 1;
    const isRepeated = ((header >> 1) & 0b11) === RLE_BLOCK;
    if (!(await reader.skip(isRepeated ? 1 : header >> 3))) return false;
  }
  return !hasChecksum || reader.skip(4);
}

/** What reads and skips bytes; null and false when the data ends before. */
function createReader(pieces: AsyncGenerator<{ bytes: Buffer }>) {
  let rest: Buffer = Buffer.alloc(0);
  const refill = async (): Promise<boolean> => {
    while (rest.length === 0) {
      const { value, done } = await pieces.next();
      if (done === true) return false;
      rest = value.bytes;
    }
    return true;
  };
  const take = async (count: number, onBytes: (bytes: Buffer) => void): Promise<boolean> => {
    for (let left = count; left > 0; ) {
      if (!(await refill())) return false;
      const part = rest.subarray(0, left);
      rest = rest.subarray(part.length);
      left -= part.length;
      onBytes(part);
    }
    return true;
  };
  return {
    read: async (count: number) => {
      const parts: Buffer[] = [];
      return (await take(count, (part) => parts.push(part))) ? Buffer.concat(parts) : null;
    },
    skip: (count: number) => take(count, () => {}),
    isAtEnd: async () => !(await refill()),
  };
}
