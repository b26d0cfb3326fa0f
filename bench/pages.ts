import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { launchBrowser, noBrowser } from '../test/support/chromium.ts';
import { type Measurement, benchFolder, median, startServer } from './support.ts';
import { fillWithTrackRecords, modelNames } from '../test/support/track-records.ts';

const MODELS = 20;
const DAYS = 500;
const ROUNDS = 7;
const AIM_MS = 200;
const SIZE_AIM_BYTES = 512 * 1024;
const PROGRAM = new URL('../dist/server.js', import.meta.url);

/** Each page with the answers that it is made of. */
const pages: [name: string, path: string, data: RegExp][] = [
  ['overview', '/', /\/(performance|simulate\/status)/],
  ['model', '/models/model-7', /\/(performance|holdings)/],
  ['model-day', '/model-days/model-7/2024-05-15', /\/(reasoning|results)/],
  ['job', '/jobs/bench-0000', /\/simulate\/status/],
  ['API', '/api', /\/openapi\.json/],
];

/** The size of the program, and how long after the last byte of its data each page is complete and painted. */
export async function measurePages(): Promise<Measurement[]> {
  const bytes = statSync(PROGRAM).size;
  const size = {
    what: 'size of dist/server.js, bytes',
    ours: bytes.toLocaleString('en-US'),
    peer: '',
    ratio: '',
    aim: `< ${SIZE_AIM_BYTES.toLocaleString('en-US')}`,
    met: bytes < SIZE_AIM_BYTES,
  };
  if (noBrowser) {
    const none = { what: 'pages', ours: `not measured: ${noBrowser}`, peer: '', ratio: '', aim: '', met: null };
    return [size, none];
  }
  const folder = benchFolder();
  fillWithTrackRecords(join(folder, 'data/jobs_dev.db'), { models: modelNames(MODELS), days: DAYS });
  const server = await startServer(['model-0'], { folder });
  const browser = await launchBrowser();
  const measurements = [size];
  for (const [name, path, data] of pages) {
    const times: number[] = [];
    while (times.length < ROUNDS) times.push(await usableAfterData(browser, server.url + path, data));
    const ours = median(times);
    const what = `page ${name}, ms from its data to usable, ${MODELS} models × ${DAYS} days`;
    measurements.push({ what, ours: ours.toFixed(0), peer: '', ratio: '', aim: `< ${AIM_MS}`, met: ours < AIM_MS });
  }
  await browser.close();
  await server.stop();
  return measurements;
}

/** Runs in the page before its own script: tells when the page is complete and has been painted. */
const WATCH = `
  window.usable = new Promise((resolve) =>
    new MutationObserver((_changes, observer) => {
      if (document.querySelector('main:not([aria-busy]) h1') === null) return;
      observer.disconnect();
      requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now())));
    }).observe(document, { subtree: true, childList: true, attributes: true }));`;

async function usableAfterData(browser: Browser, url: string, data: RegExp): Promise<number> {
  const page = await browser.newPage();
  await page.addInitScript(WATCH);
  await page.goto(url);
  const usableAt = await page.evaluate<number>('window.usable');
  const answers = await page.evaluate<{ name: string; responseEnd: number }[]>(
    "performance.getEntriesByType('resource').map(({ name, responseEnd }) => ({ name, responseEnd }))",
  );
  await page.close();
  const ends = answers.filter(({ name }) => data.test(name)).map(({ responseEnd }) => responseEnd);
  if (ends.length === 0) throw new Error(`${url} asked for no data`);
  return usableAt - Math.max(...ends.filter((end) => end <= usableAt));
}
