import { execFileSync, spawn } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { PROGRAM, benchFolder, endWithBench, startServer } from '../bench/support.ts';
import { launchBrowser } from '../test/support/chromium.ts';

/**
 * Makes the pictures of the documents with the built program, in a folder of its own. It takes each
 * page as a reader with a window of this size sees it first.
 *
 * `npm run pictures` takes those of the demo. `npm run pictures -- FIRST LAST FILE...` takes the one
 * of the README: rules over the real prices in these files, between these dates. Such files are not
 * ours to publish.
 */
const WINDOW = { width: 1240, height: 860 };

/** Chosen before the result was known: three rules, and chance ten times. */
const RULES = {
  models: [
    { signature: 'buy-and-hold', basemodel: 'baseline/buy-and-hold', enabled: true },
    { signature: 'equal-weight', basemodel: 'baseline/equal-weight', enabled: true },
    { signature: 'momentum', basemodel: 'baseline/momentum', enabled: true },
    { signature: 'random', basemodel: 'baseline/random', enabled: true, repeats: 10 },
  ],
  agent_config: { initial_cash: 1_000_000 },
};

const folder = benchFolder();
const [first = '', last = '', ...files] = process.argv.slice(2);
async function simulateRules() {
  const env = { DEPLOYMENT_MODE: 'PROD', API_HOST: '127.0.0.1', RUNTIME_CONFIG_PATH: 'rules.json' };
  writeFileSync(join(folder, 'rules.json'), JSON.stringify(RULES));
  const run = (...args: string[]) =>
    execFileSync(process.execPath, [PROGRAM, ...args], { cwd: folder, env, stdio: 'inherit' });
  run('import-prices', ...files.map((file) => resolve(file)));
  const { url, process: service } = await startServer(PROGRAM, { folder, env });
  run('trigger', '--url', url, '--start', first, '--end', last, '--watch');
  return { url, service, pictures: [['rules', '/']] };
}

async function simulateDemo() {
  cpSync('configs', join(folder, 'configs'), { recursive: true });
  const service = endWithBench(
    spawn(process.execPath, [PROGRAM, 'demo'], {
      cwd: folder,
      env: { API_PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  );
  let [url, date] = ['', ''];
  for await (const line of createInterface({ input: service.stdout })) {
    console.log(line);
    url = /^Still serving.*(http:\/\/localhost:\d+)\//.exec(line)?.[1] ?? url;
    date = /"end_date": "([\d-]+)"/.exec(line)?.[1] ?? date;
    if (date !== '') break; // the demo's last line
  }
  const day = ['model-day', `/model-days/gpt-5/${date}`];
  return { url, service, pictures: [['overview', '/'], ['comparison', '/compare'], day] };
}

const { url, service, pictures } = await (first === '' ? simulateDemo() : simulateRules());
if (url === '') throw new Error('The program ended before it said where it serves');
const browser = await launchBrowser();
const page = await browser.newPage({ viewport: WINDOW, colorScheme: 'light' });
for (const [name, path] of pictures) {
  await page.goto(`${url}${path}`);
  await page.locator('main:not([aria-busy], [data-top-first]) h1').waitFor();
  await page.waitForLoadState('networkidle'); // the column that comes last
  const picture = await page.screenshot({ path: `docs/${name}.png` });
  console.log(`docs/${name}.png: ${picture.length} bytes`);
}
await browser.close();
service.kill('SIGINT');
