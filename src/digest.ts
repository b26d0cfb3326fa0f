/**
 * The SHA-256 of a text or of bytes. Loads `node:crypto` when it is first called: the start does
 * without its 4 ms.
 */
export function sha256(data: string | Buffer): Buffer {
  return process.getBuiltinModule('node:crypto').hash('sha256', data, 'buffer');
}
