import { spawnSync } from 'node:child_process';

/**
 * A Python with libraries that long tests compare with:
 * `python3 -m venv oracle && oracle/bin/pip install ...`.
 */
export const ORACLE_PYTHON = process.env['ORACLE_PYTHON'] ?? '';

/** Why a test is skipped that needs these packages; false if they are there. */
export function withoutPackages(...names: string[]): string | false {
  const code = `import ${names.join(', ')}`;
  const isThere = ORACLE_PYTHON !== '' && spawnSync(ORACLE_PYTHON, ['-c', code]).status === 0;
  return isThere ? false : `ORACLE_PYTHON names no Python with ${names.join(', ')}`;
}
