import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { launchBrowser, noBrowser } from '../test/support/chromium.ts';
import { fillWithTrackRecords, modelNames } from '../test/support/track-records.ts';
import { besideCalibration } from './figure.ts';
import {
  type BenchOptions,
  type Measurement,
  PROGRAM,
  benchFolder,
  startServer,
} from './support.ts';

const MODELS = 20;
const DAYS = 500;
const AIM_MS = 200;
const FIRST_VIEW_AIM_MS = 500;
/** A page that takes longer ends the bench. */
const LONGEST_MS = 60_000;
const BOUNDS = { minPairs: 6, maxMs: 20_000 };

/** Each page with the answers that it is made of. */
const pages: [name: string, path: string, data: RegExp][] = [
  ['overview', '/', /\/(performance|simulate\/status)/],
  ['model', '/models/model-7', /\/(performance|holdings)/],
  ['model-day', '/model-days/model-7/2024-05-15', /\/(reasoning|results)/],
  ['compare', '/compare', /\/(comparison|performance)/],
  [
    'two models',
    '/compare?models=model-7,model-8',
    /\/(comparison|performance|holdings|decisions)/,
  ],
  ['jobs', '/job-list', /\/jobs\?/],
  ['job', '/jobs/bench-0000', /\/(simulate\/status|performance)/],
  ['decisions', '/decision-feed', /\/decisions/],
  ['API', '/api', /\/openapi\.json/],
];

/**
 * The size of the program, and how long after the last byte of its data each page is complete and
 * painted.
 */
export async function* measurePages(options: BenchOptions): AsyncGenerator<Measurement> {
  yield sizeOfProgram();
  if (noBrowser) {
    yield { what: 'pages', ours: `not measured: ${noBrowser}` };
    return;
  }
  const folder = benchFolder();
  fillWithTrackRecords(join(folder, 'data/jobs_dev.db'), {
    models: modelNames(MODELS),
    days: DAYS,
  });
  const server = await startServer(['model-0'], { folder });
  const browser = await launchBrowser();
  const of = `${MODELS} models × ${DAYS} days`;
  for (const [name, path, data] of pages) {
    const view = (time: keyof View) => async () =>
      (await viewOf(browser, server.url + path, data))[time];
    const aims = { bounds: BOUNDS, ...options };
    yield await besideCalibration(
      `page ${name}, from its data to usable, ${of}`,
      view('usableMs'),
      { belowMs: AIM_MS, ...aims },
    );
    if (path !== '/') continue;
    const first = { belowMs: FIRST_VIEW_AIM_MS, ...aims };
    yield await besideCalibration(
      `first view of the ${name}, from the request to the first paint, ${of}`,
      view('paintedMs'),
      first,
    );
    yield await besideCalibration(
      `first view of the ${name}, from the request to complete and painted, ${of}`,
      view('completeMs'),
      first,
    );
  }
  await browser.close();
  await server.stop();
}

function sizeOfProgram(): Measurement {
  const bytes = statSync(PROGRAM).size;
  return { what: 'size of dist/server.js', ours: `${bytes.toLocaleString('en-US')} bytes` };
}

/**
 * Runs in the page before its own script: tells when the page is complete and has been painted, or
 * fails after a time.
 */
const WATCH = `
  window.usable = new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error('The page was not complete after ${LONGEST_MS} ms')), ${LONGEST_MS});
    new MutationObserver((_changes, observer) => {
      if (document.querySelector('main:not([aria-busy]) h1') === null) return;
      observer.disconnect();
      requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now())));
    }).observe(document, { subtree: true, childList: true, attributes: true });
  });`;

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
  const ends = answers
    .filter(({ name, responseEnd }) => data.test(name) && responseEnd <= completeMs)
    .map(({ responseEnd }) => responseEnd);
  if (ends.length === 0) throw new Error(`${url} was complete without its data`);
  return { usableMs: completeMs - Math.max(...ends), paintedMs, completeMs };
}
