import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import type { TestContext } from 'node:test';

/** Where hard links are refused, as some file systems do; `before` happens first. */
export async function withoutLinks(
  t: TestContext,
  before: () => void,
  work: () => Promise<void>,
): Promise<void> {
  const mock = t.mock.method(fs, 'linkSync', () => {
    before();
    throw Object.assign(new Error('EPERM: operation not permitted, link'), { code: 'EPERM' });
  });
  syncBuiltinESMExports();
  try {
    await work();
  } finally {
    mock.mock.restore();
    syncBuiltinESMExports();
  }
}
