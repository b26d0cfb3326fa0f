/** The outline of zstd data (RFC 8878, 3.1): enough to tell whether its last frame is whole. */

const FRAME = 0xfd2fb528;
const SKIPPABLE_FRAME = 0x184d2a50;
const SKIPPABLE_MASK = 0xfffffff0;
const RLE_BLOCK = 1;
const DICTIONARY_BYTES = [0, 1, 2, 4];
const CONTENT_SIZE_BYTES = [0, 2, 4, 8];

/** Reads and skips bytes; null and false when the data ends before. */
interface ByteReader {
  read(count: number): Promise<Buffer | null>;
  skip(count: number): Promise<boolean>;
  isAtEnd(): Promise<boolean>;
}

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

function createReader(pieces: AsyncGenerator<{ bytes: Buffer }>): ByteReader {
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
    read: async (count) => {
      const parts: Buffer[] = [];
      return (await take(count, (part) => parts.push(part))) ? Buffer.concat(parts) : null;
    },
    skip: (count) => take(count, () => {}),
    isAtEnd: async () => !(await refill()),
  };
}
