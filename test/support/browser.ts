import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type TestContext, after, test as anyTest } from 'node:test';
import type {
  Browser,
  BrowserContext,
  BrowserContextOptions,
  Locator,
  Page,
} from 'playwright-core';
import { launchBrowser, noBrowser } from './chromium.ts';

/** Far more than any page takes, also on a busy machine. */
const TIMEOUT_MS = 120_000;

/** A test that needs a browser: it is skipped where there is none. */
export function test(name: string, run: (t: TestContext) => Promise<void>): void {
  anyTest(name, { skip: noBrowser }, run);
}

let launched: Promise<Browser> | undefined;

/** One browser for all tests of a file. */
export function browser(): Promise<Browser> {
  return (launched ??= launchBrowser());
}

after(async () => (await launched)?.close());

export interface Visit {
  page: Page;
  /** Goes to a page and waits until it is complete. */
  open(path: string): Promise<void>;
}

export interface VisitOptions extends BrowserContextOptions {
  /** The error statuses that the test provokes; a browser writes each to its console. */
  provokes?: readonly number[];
}

let shared: Promise<BrowserContext> | undefined;

/**
 * One profile for readers without options of a profile, so that the browser reads and compiles the
 * program of the pages once.
 */
function sharedProfile(): Promise<BrowserContext> {
  return (shared ??= browser().then((launched) => launched.newContext()));
}

/** As large as the window of a new tab. */
const WINDOW = { width: 1280, height: 720 };
const EVENTS = ['console', 'pageerror', 'request', 'response', 'download', 'dialog'] as const;

let spareTab: Page | undefined;

/**
 * A tab of the shared profile: that of an earlier test, because a new one takes as much processor
 * time as two pages.
 */
async function openTab(): Promise<Page> {
  const spare = spareTab;
  spareTab = undefined;
  return spare ?? (await sharedProfile()).newPage();
}

/** Leaves a tab for the next test as a new one would be, but for its history. */
async function leaveTab(page: Page, url: string): Promise<void> {
  if (spareTab !== undefined || page.isClosed()) return page.close();
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  if (page.url().startsWith(url)) await page.evaluate('sessionStorage.clear()');
  await page.goto('about:blank');
  for (const event of EVENTS) page.removeAllListeners(event);
  await page.emulateMedia({ media: null, colorScheme: null });
  await page.setViewportSize(WINDOW);
  spareTab = page;
}

/**
 * A reader with a tab to themselves, and with options a browser profile. After the test: nothing
 * went wrong on the console, no script failed, and no request went to another host.
 */
export async function visit(
  t: TestContext,
  url: string,
  { provokes = [], viewport, ...options }: VisitOptions = {},
): Promise<Visit> {
  const hasOwnProfile = Object.keys(options).length > 0;
  const own = hasOwnProfile ? await (await browser()).newContext(options) : null;
  const page = own === null ? await openTab() : await own.newPage();
  if (viewport) await page.setViewportSize(viewport);
  page.setDefaultTimeout(TIMEOUT_MS);
  const wrong: string[] = [];
  // A page may still send requests after its service has been stopped, by the test or after it.
  const isProvoked = (text: string) =>
    text.includes('net::ERR_CONNECTION_') ||
    provokes.some((status) => text.includes(`status of ${status} `));
  page.on('console', (message) => {
    const text = message.text();
    if (['error', 'warning'].includes(message.type()) && !isProvoked(text))
      wrong.push(`${text} (${message.location().url})`);
  });
  page.on('pageerror', (error) => wrong.push(String(error)));
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== new URL(url).origin) wrong.push(`asked ${request.url()}`);
  });
  t.after(async () => {
    await (own === null ? leaveTab(page, url) : own.close());
    assert.deepEqual(wrong, []);
  });
  const open = async (path: string) => {
    await page.goto(url + path);
    await loaded(page);
  };
  return { page, open };
}

/** Waits until a page has all that the reader came for. */
export async function loaded(page: Page): Promise<void> {
  await page.locator('main:not([aria-busy], [data-top-first]) h1').waitFor();
}

/** The part of a page under such a heading. */
export function region(page: Page, name: string): Locator {
  return page.getByRole('region', { name, exact: true });
}

/** The button that says so. */
export function button(page: Page, name: string): Locator {
  return page.getByRole('button', { name, exact: true });
}

/**
 * How much of the page has moved without the reader's doing since it was opened (Cumulative Layout
 * Shift).
 */
export async function layoutShift({ page }: Visit): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => {
    const observer = new PerformanceObserver(() => {});
    observer.observe({ type: 'layout-shift', buffered: true });
    resolve(observer.takeRecords().reduce((sum, { value, hadRecentInput }) => sum + (hadRecentInput ? 0 : value), 0));
  })))`);
}

/** How far the page is wider than its window; 0 when there is nothing to scroll to sideways. */
export async function overflow({ page }: Visit): Promise<number> {
  return page.evaluate<number>('Math.max(0, document.documentElement.scrollWidth - innerWidth)');
}

/** What a button saves: its name and its content. */
export async function saved(
  { page }: Visit,
  section: string,
  format: 'CSV' | 'SVG',
): Promise<{ name: string; content: Buffer }> {
  const button = page.locator(section).getByText(format, { exact: true });
  const [download] = await Promise.all([page.waitForEvent('download'), button.click()]);
  return { name: download.suggestedFilename(), content: readFileSync(await download.path()) };
}

/** As if the page requested so many decisions at a time. */
export async function decisionsAtATime(page: Page, limit: number): Promise<void> {
  await page.route('**/decisions?*', (route) =>
    route.continue({ url: route.request().url().replace('limit=100', `limit=${limit}`) }),
  );
}
