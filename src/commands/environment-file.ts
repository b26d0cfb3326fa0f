import { parseEnv } from 'node:util';
import { ServiceError, codeOf, messageOf } from '../domain.ts';
import { readTrustedText } from '../trusted-file.ts';

const PATH = '.env';
const MAX_BYTES = 1024 * 1024;
/** A quoted value may contain line breaks; anything after it on its line is ignored. */
const QUOTED_VALUE = /=[ \t]*("[^"]*"|'[^']*'|`[^`]*`)[^\n]*/g;
const ASSIGNMENT = /^\s*(export\s+)?[\w.-]+\s*=(?!\s*["'`])/;

/**
 * Sets the variables of a `.env` file in the working directory, if there is one. Variables that are
 * already set take precedence. Throws a `ServiceError` (`cannot_start`) for an unreadable file or
 * an invalid line.
 */
export function loadEnvironmentFile(environment: NodeJS.ProcessEnv): void {
  const text = readText();
  if (text === null) return;
  const wrong = firstWrongLine(text);
  if (wrong !== null)
    throw new ServiceError(
      'cannot_start',
      `Cannot read ${PATH}: line ${wrong} is not NAME=VALUE with closed quotes`,
    );
  for (const [name, value] of Object.entries(parseEnv(text))) environment[name] ??= value ?? '';
}

function readText(): string | null {
  try {
    const text = readTrustedText(PATH, MAX_BYTES);
    if (text.includes('\0')) throw new Error('it is not text');
    return text;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw new ServiceError('cannot_start', `Cannot read ${PATH}: ${messageOf(error)}`);
  }
}

/** Never quotes the line: it may hold a key. */
function firstWrongLine(text: string): number | null {
  const withoutQuoted = text.replace(QUOTED_VALUE, (found) => `=${found.replace(/[^\n]/g, '')}`);
  const lines = withoutQuoted.split('\n');
  const index = lines.findIndex((line) => !/^\s*(#|$)/.test(line) && !ASSIGNMENT.test(line));
  return index === -1 ? null : index + 1;
}
