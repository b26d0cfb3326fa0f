/**
 * The SHA-256 of a text or of bytes. Loads `node:crypto` when it is first called: the start does
 * without its 4 ms.
 */
export function sha256(data: string | Buffer): Buffer {
  return process.getBuiltinModule('node:crypto').hash('sha256', data, 'buffer');
}

/**
 * FNV-1a over the UTF-16 units of a text (public domain): 32 bits, the same on every machine; not
 * for secrets.
 */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    hash = addToHash(hash, text.charCodeAt(index));
  return hash;
}

/** Adds one more number to a hash. */
export function addToHash(hash: number, next: number): number {
  return Math.imul(hash ^ next, 0x01000193);
}
