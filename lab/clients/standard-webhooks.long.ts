import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Settings } from '../../src/core/settings/settings.ts';
import { scriptedAgent } from '../../test/support/agents.ts';
import { folderWith } from '../../test/support/foreign-tools.ts';
import { followProgram } from '../../test/support/program.ts';
import { startTestService } from '../../test/support/service.ts';
import { until } from '../../test/support/until.ts';

/**
 * The receiver of examples/webhook/receiver.mjs checks announcements with the library of
 * Standard Webhooks. That comes from npm; where it cannot be had, the test is skipped by name.
 */

const LIBRARY = 'standardwebhooks@1.1.1';
const DAY = { start_date: '2025-11-10', end_date: '2025-11-10' };
const RECEIVER = new URL('../../examples/webhook/receiver.mjs', import.meta.url);

test('the library of Standard Webhooks accepts what the service signs with its secret, and nothing else', async (t) => {
  const cwd = folderWith(t, [LIBRARY]);
  if (cwd === null) return;
  copyFileSync(RECEIVER, join(cwd, 'receiver.mjs'));
  const key = Buffer.alloc(32, 'a key');
  const env = { JOB_WEBHOOK_SECRET: `whsec_${key.toString('base64')}` };
  const receiver = followProgram(spawn(process.execPath, ['receiver.mjs', '0'], { cwd, env }));
  t.after(() => receiver.process.kill('SIGKILL'));
  const [, port] = await receiver.waitFor(/^(\d+)\n/);
  const announce = async (jobWebhookKey: Settings['jobWebhookKey'], clock = () => new Date()) => {
    const jobWebhookUrl = `http://127.0.0.1:${port}/`;
    const service = await startTestService(t, {
      settings: { jobWebhookUrl, jobWebhookKey, autoDownloadPriceData: false },
      limits: { announcementPausesMs: [] },
      agent: scriptedAgent({}),
      prices: 'AAPL 2025-11-10 100 101',
      clock,
    });
    const { job_id: jobId, status } = await service.runJob(DAY);
    const { database, logLines } = service;
    const left = database.statement('SELECT 1 FROM announcements');
    await until('the announcement to be over', () => left.get() === undefined);
    const [warning] = logLines.filter(({ message }) => message.startsWith('cannot announce'));
    return { line: `${jobId} ${status}`, failure: warning?.['failure'] };
  };
  const { line, failure } = await announce(key);
  assert.equal(failure, undefined);
  await receiver.waitFor(new RegExp(`^${line}$`, 'm'));
  const anHourAgo = () => new Date(Date.now() - 3_600_000);
  for (const refused of [
    await announce(Buffer.alloc(32, 'another')),
    await announce(null),
    await announce(key, anHourAgo),
  ])
    assert.equal(refused.failure, 'status 401');
  await receiver.waitFor(/(^rejected\n[^]*){3}/m);
});
