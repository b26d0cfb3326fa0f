import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { noProc } from '../support/processes.ts';

const SOAK = new URL('../../bench/soak.ts', import.meta.url).pathname;
const SECONDS = 3;
/**
 * More than the soak with its start and its replay takes on a machine that is busy with other
 * tests.
 */
const MAX_MS = 180_000;

test('the soak reports and then ends by itself, although its calibration runs in a process of its own', {
  skip: noProc,
}, async () => {
  const { promise, resolve } = Promise.withResolvers<{ isStopped: boolean; output: string }>();
  execFile(
    process.execPath,
    [SOAK, String(SECONDS)],
    { timeout: MAX_MS },
    (error, output, errors) => {
      resolve({ isStopped: error?.killed ?? false, output: output + errors }); // exit code 1 may be memory that still grows as it starts
    },
  );
  const { isStopped, output } = await promise;
  assert.equal(isStopped, false, `after ${MAX_MS} ms the soak still ran: ${output}`);
  assert.match(output, /^\d+ answers, \d+ jobs .*\nno error\n$/ms);
});
