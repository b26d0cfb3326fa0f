import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const FLAGS = [
  '--no-sandbox', // there is none for root, as containers run; only our own pages are opened
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Where the system's Chromium is; undefined where there is none. */
export const chromiumPath = PLACES.find((path) => existsSync(path));

/** Why there can be no browser here; false when there can. */
export const noBrowser: string | false =
  chromiumPath === undefined &&
  `there is no Chromium on this machine (looked for ${PLACES.join(', ')})`;

export function launchBrowser(): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error(`Cannot start a browser: ${noBrowser}`);
  return chromium.launch({ executablePath: chromiumPath, args: FLAGS });
}
