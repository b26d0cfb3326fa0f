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

const executablePath = PLACES.find((path) => existsSync(path));

/** Why there can be no browser here; false when there can. */
export const noBrowser: string | false =
  executablePath === undefined && `there is no Chromium on this machine (looked for ${PLACES.join(', ')})`;

export function launchBrowser(): Promise<Browser> {
  if (executablePath === undefined) throw new Error(`Cannot start a browser: ${noBrowser}`);
  return chromium.launch({ executablePath, args: FLAGS });
}
