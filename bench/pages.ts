import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { launchBrowser, noBrowser } from '../test/support/chromium.ts';
import { limit } from './responses.ts';
import { type Measurement, benchFolder, median, startServer } from './support.ts';
import { fillWithTrackRecords, modelNames } from '../test/support/track-records.ts';

const MODELS = 20;
const DAYS = 500;
const ROUNDS = 7;
const AIM_MS = 200;
const FIRST_VIEW_AIM_MS = 500;
const SIZE_AIM_BYTES = 480 * 1024;
const PROGRAM = new URL('../dist/server.js', import.meta.url);

/** Each page with the answers that it is made of. */
const pages: [name: string, path: string, data: RegExp][] = [
  ['overview', '/', /\/(performance|simulate\/status)/],
  ['model', '/models/model-7', /\/(performance|holdings)/],
  ['model-day', '/model-days/model-7/2024-05-15', /\/(reasoning|results)/],
  ['compare', '/compare', /\/(comparison|performance)/],
  ['two models', '/compare?models=model-7,model-8', /\/(comparison|performance|holdings|decisions)/],
  ['jobs', '/job-list', /\/jobs\?/],
  ['job', '/jobs/bench-0000', /\/(simulate\/status|performance)/],
  ['decisions', '/decision-feed', /\/decisions/],
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
  const measurements: Measurement[] = [size];
  for (const [name, path, data] of pages) {
    const views: View[] = [];
    while (views.length < ROUNDS) views.push(await viewOf(browser, server.url + path, data));
    const of = `${MODELS} models × ${DAYS} days`;
    measurements.push(limit(`page ${name}, from its data to usable, ${of}`, median(views.map((view) => view.usableMs)), AIM_MS));
    if (path !== '/') continue;
    const [painted, complete] = [median(views.map((view) => view.paintedMs)), median(views.map((view) => view.completeMs))];
    measurements.push(limit(`first view of the ${name}, from the request to the first paint, ${of}`, painted, FIRST_VIEW_AIM_MS));
    measurements.push(limit(`first view of the ${name}, from the request to complete and painted, ${of}`, complete, FIRST_VIEW_AIM_MS));
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

/** When the browser first painted some content. */
const FIRST_PAINT = `new Promise((resolve) =>
  new PerformanceObserver((list) =>
    list.getEntriesByName('first-contentful-paint').forEach(({ startTime }) => resolve(startTime)),
  ).observe({ type: 'paint', buffered: true }))`;

/** In milliseconds: from the last byte of a page's data, and from the request for the page. */
interface View {
  usableMs: number;
  paintedMs: number;
  completeMs: number;
}

/** A page in a browser profile that has never seen it. */
async function viewOf(browser: Browser, url: string, data: RegExp): Promise<View> {
  const page = await browser.newPage();
  await page.addInitScript(WATCH);
  await page.goto(url);
  const completeMs = await page.evaluate<number>('window.usable');
  const paintedMs = await page.evaluate<number>(FIRST_PAINT);
  const answers = await page.evaluate<{ name: string; responseEnd: number }[]>(
    "performance.getEntriesByType('resource').map(({ name, responseEnd }) => ({ name, responseEnd }))",
  );
  await page.close();
  const ends = answers.filter(({ name }) => data.test(name)).map(({ responseEnd }) => responseEnd);
  if (ends.length === 0) throw new Error(`${url} asked for no data`);
  return { usableMs: completeMs - Math.max(...ends.filter((end) => end <= completeMs)), paintedMs, completeMs };
}
