import * as children from '../../src/core/children/process.ts';
import { EXECUTABLE, isExecutable } from './program.ts';

/**
 * Children as the service starts them; with TEST_EXECUTABLE=1 as the executable does: they run the
 * executable too.
 */

const host = isExecutable ? { host: { file: EXECUTABLE, isExecutable } } : {};

export const startConfined: typeof children.startConfined = (program, rights) =>
  children.startConfined(program, { ...rights, ...host });

export const startProcess: typeof children.startProcess = (program, rights) =>
  children.startProcess(program, { ...rights, ...host });
