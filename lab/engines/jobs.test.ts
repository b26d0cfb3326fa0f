import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { noProc } from '../../test/support/processes.ts';
import { modelProcesses, ownModel } from './jobs.ts';

test('the tests of engines find their own model processes, and none of another service on this machine', {
  skip: noProc,
}, async (t) => {
  const start = async (model: string) => {
    const program = `process.title = 'model-day 2025-10-07 ${model}'; console.log('titled'); setInterval(() => {}, 1_000);`;
    const child = spawn(process.execPath, ['--eval', program]);
    t.after(() => child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    return child.pid;
  };
  const own = await start(ownModel('beta'));
  await start('beta');
  assert.deepEqual(modelProcesses(ownModel('beta')), [own]);
});
