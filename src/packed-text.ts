/**
 * Compressed bytes as text inside the program. Of the printable ASCII characters, the 91 that need no escape in a string: two
 * of them hold 13 bits, where base64 holds 12.
 */
const CODES = Array.from({ length: 94 }, (_, index) => index + 33).filter((code) => !`"'\\`.includes(String.fromCharCode(code)));
const VALUES = new Uint8Array(127);
CODES.forEach((code, value) => (VALUES[code] = value));
const BITS_OF_PAIR = 13;
/** What a last single character holds. */
const BITS_OF_ONE = 6;

/** What `pack` made of a text. */
export function unpack(packed: string): string {
  return unpackBytes(packed).toString();
}

export function unpackBytes(packed: string): Buffer {
  return process.getBuiltinModule('node:zlib').brotliDecompressSync(bytesOf(packed)); // most commands do without it
}

export function bytesOf(text: string): Buffer {
  const bytes = Buffer.alloc(Math.floor(((text.length >> 1) * BITS_OF_PAIR + (text.length & 1) * BITS_OF_ONE) / 8));
  let [bits, count, length] = [0, 0, 0];
  for (let index = 0; index < text.length; index += 2) {
    const isPair = index + 1 < text.length;
    const value = (VALUES[text.charCodeAt(index)] ?? 0) + (isPair ? (VALUES[text.charCodeAt(index + 1)] ?? 0) * CODES.length : 0);
    bits |= value << count;
    count += isPair ? BITS_OF_PAIR : BITS_OF_ONE;
    for (; count >= 8; count -= 8, bits >>>= 8) bytes[length++] = bits & 0xff;
  }
  return bytes;
}

/** Only the build and tests use it. */
export function textOf(bytes: Uint8Array): string {
  let [text, bits, count] = ['', 0, 0];
  const add = (value: number) => (text += String.fromCharCode(CODES[value] ?? 0));
  for (const byte of bytes) {
    bits |= byte << count;
    count += 8;
    if (count < BITS_OF_PAIR) continue;
    const pair = bits & (2 ** BITS_OF_PAIR - 1);
    add(pair % CODES.length);
    add(Math.floor(pair / CODES.length));
    bits >>>= BITS_OF_PAIR;
    count -= BITS_OF_PAIR;
  }
  if (count > 0) add(bits % CODES.length);
  if (count > BITS_OF_ONE) add(Math.floor(bits / CODES.length));
  return text;
}
