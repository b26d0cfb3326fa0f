import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  addAnnouncement,
  type Announcement,
  nextAnnouncements,
  removeAnnouncement,
} from '#database/job-queries.ts';
import { jobStatus } from '#database/records/job-records.ts';
import { httpStatus, toHttpFailure } from '#network/http-client.ts';
import { currentWarnings } from '#prices/warnings.ts';
import { logUnexpected } from '#process/log.ts';
import { deploymentFields } from '#settings/settings.ts';
import type { WorkerContext } from './active-job.ts';

/**
 * Stores what is to be announced of a job, within the transaction that ends it: so a kill loses no
 * end, and all tries say the same, even if the job is discarded meanwhile.
 */
export function noteEnd({ database, settings }: WorkerContext, jobId: string): void {
  const { jobWebhookUrl, publicUrl } = settings;
  if (jobWebhookUrl === null) return;
  const job = jobStatus(database, jobId);
  assert(job !== undefined, 'jobs are never removed');
  const { status, progress, error } = JSON.parse(job.json);
  const warnings = currentWarnings(database, job, jobId)?.map(({ message }) => message) ?? null;
  const end = {
    ...{ event: 'job.ended', job_id: jobId, status, progress, error, warnings },
    ...(publicUrl !== null && { url: `${publicUrl.replace(/\/+$/, '')}/jobs/${jobId}` }),
    ...deploymentFields(settings),
  };
  addAnnouncement(database, { jobId, body: JSON.stringify(end) });
}

/**
 * Announces the ends of jobs over HTTP as Standard Webhooks has it, each by itself. The log says of
 * what kind a failure is, because its message may contain the address.
 */
export function createWebhook({ database, log, clock, settings, limits }: WorkerContext) {
  const { jobWebhookUrl: url, jobWebhookKey: key } = settings;
  // Without an address the ends wait for one.
  if (url === null) return { send() {}, async stop() {} };
  const stopping = new AbortController();
  const { signal } = stopping;
  const deliveries = new Map<string, Promise<void>>();

  /** Resolves to why the receiver has not taken it; null when it has. */
  const post = async ({ jobId, body }: Announcement) => {
    const time = String(Math.floor(clock().getTime() / 1000));
    const signed = `${jobId}.${time}.${body}`;
    const signature = key && createHmac('sha256', key).update(signed).digest('base64');
    const headers = {
      'content-type': 'application/json',
      'webhook-id': jobId,
      'webhook-timestamp': time,
      ...(signature && { 'webhook-signature': `v1,${signature}` }),
    };
    const timeoutMs = limits.announcementMs;
    const request = { method: 'POST', headers, body, timeoutMs, signal } as const;
    const answer = await httpStatus(url, request).catch(toHttpFailure);
    if (answer.failure !== undefined) return answer.failure;
    return answer.status >= 200 && answer.status < 300 ? null : `status ${answer.status}`;
  };

  const deliver = async (announcement: Announcement) => {
    const { jobId } = announcement;
    let failure: string | null = null;
    try {
      for (const pauseMs of [0, ...limits.announcementPausesMs]) {
        await sleep(pauseMs, undefined, { signal });
        failure = await post(announcement);
        if (failure === null) break;
        signal.throwIfAborted();
      }
      if (failure !== null) log.warning('cannot announce the end of a job', { jobId, failure });
      await database.write(() => removeAnnouncement(database, jobId));
      deliveries.delete(jobId);
      send();
    } catch (error) {
      // It stays: this process does not announce it twice.
      if (!signal.aborted) logUnexpected(log, error, { jobId });
    }
  };

  /** Announces what is not on its way. */
  function send(): void {
    if (signal.aborted) return;
    for (const one of nextAnnouncements(database))
      if (!deliveries.has(one.jobId)) deliveries.set(one.jobId, deliver(one));
  }

  return {
    send,
    /** Breaks off what is on its way: the next start sends it again. */
    async stop() {
      stopping.abort();
      await Promise.all(deliveries.values());
    },
  };
}
