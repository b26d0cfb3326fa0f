import { spawn } from 'node:child_process';
import { cpSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { PROGRAM, benchFolder, endWithBench } from '../bench/support.ts';
import { launchBrowser } from '../test/support/chromium.ts';

/**
 * Makes the pictures of docs from the demo: `npm run pictures`. It runs the built demo in a folder
 * of its own, and takes each page as a reader with a window of this size sees it first.
 */
const WINDOW = { width: 1240, height: 860 };

const folder = benchFolder();
cpSync('configs', `${folder}/configs`, { recursive: true });
const demo = endWithBench(
  spawn(process.execPath, [PROGRAM, 'demo'], {
    cwd: folder,
    env: { API_PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  }),
);
let [url, lastDate] = ['', ''];
for await (const line of createInterface({ input: demo.stdout })) {
  console.log(line);
  url = /^Still serving.*(http:\/\/localhost:\d+)\//.exec(line)?.[1] ?? url;
  lastDate = /"end_date": "([\d-]+)"/.exec(line)?.[1] ?? lastDate;
  if (lastDate !== '') break; // the demo's last line
}
if (url === '' || lastDate === '') throw new Error('The demo ended before it said where it serves');
const pictures = [
  ['overview', '/'],
  ['comparison', '/compare'],
  ['model-day', `/model-days/gpt-5/${lastDate}`],
] as const;
const browser = await launchBrowser();
const page = await browser.newPage({ viewport: WINDOW, colorScheme: 'light' });
for (const [name, path] of pictures) {
  await page.goto(url + path);
  await page.locator('main:not([aria-busy], [data-top-first]) h1').waitFor();
  await page.waitForLoadState('networkidle'); // the column that comes last
  const picture = await page.screenshot({ path: `docs/${name}.png` });
  console.log(`docs/${name}.png: ${picture.length} bytes`);
}
await browser.close();
demo.kill('SIGINT');
