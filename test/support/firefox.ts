import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';

/**
 * The system's Firefox, driven over WebDriver BiDi (https://w3c.github.io/webdriver-bidi/) by hand:
 * Playwright's own protocol needs a Firefox of Playwright's, and its BiDi a command that Debian's
 * does not have.
 */

const PLACES = ['/usr/bin/firefox-esr', '/usr/bin/firefox'];
const path = PLACES.find((place) => existsSync(place));

/** Why there can be no Firefox here; false when there can. */
export const noFirefox: string | false =
  path === undefined && `there is no Firefox on this machine (looked for ${PLACES.join(', ')})`;

/** It asks nothing of its maker's servers. */
const PREFERENCES = {
  'app.normandy.enabled': false,
  'app.update.disabledForTesting': true,
  'browser.safebrowsing.update.enabled': false,
  'browser.shell.checkDefaultBrowser': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'extensions.getAddons.cache.enabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'services.settings.server': 'data:,',
  'toolkit.telemetry.enabled': false,
};

export interface FirefoxTab {
  /** What went wrong on the console or in a script since the last call. */
  wrong(): string[];
  setWidth(width: number): Promise<void>;
  /** Goes to a page and waits until it is complete. */
  open(url: string): Promise<void>;
  /** The value of an expression, once it has settled. */
  evaluate<Result>(script: string): Promise<Result>;
}

/** Starts a Firefox with one tab, which ends with the test. */
export async function openFirefox(t: TestContext): Promise<FirefoxTab> {
  const profile = mkdtempSync(join(tmpdir(), 'firefox-'));
  const lines = Object.entries(PREFERENCES).map(
    ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`,
  );
  writeFileSync(join(profile, 'user.js'), lines.join('\n'));
  const options = ['--headless', '--no-remote', '--remote-debugging-port=0', '--profile', profile];
  const program = spawn(path as string, options, { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = new Promise((resolve) => program.once('close', resolve));
  t.after(async () => {
    program.kill();
    await ended;
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  });
  return tabOf(await connect(await addressOf(program)));
}

async function addressOf({ stderr }: ChildProcess): Promise<string> {
  if (stderr === null) throw new Error('Firefox has no stderr');
  for await (const line of createInterface(stderr)) {
    const [, address] = /WebDriver BiDi listening on (ws:\S+)/.exec(line) ?? [];
    if (address === undefined) continue;
    stderr.resume();
    return `${address}/session`;
  }
  throw new Error('Firefox ended before it listened');
}

interface Connection {
  send(method: string, params: object): Promise<any>;
  /** The errors and warnings so far. */
  wrong: string[];
}

async function connect(address: string): Promise<Connection> {
  const socket = new WebSocket(address);
  const waiting = new Map<number, PromiseWithResolvers<any>>();
  const wrong: string[] = [];
  socket.addEventListener('message', ({ data }) => {
    const { id, type, method, result, message, params } = JSON.parse(String(data));
    if (type === 'event') {
      if (method === 'log.entryAdded' && ['error', 'warn'].includes(params.level))
        wrong.push(params.text);
      return;
    }
    if (type === 'success') waiting.get(id)?.resolve(result);
    else waiting.get(id)?.reject(new Error(`Firefox refused: ${message}`));
    waiting.delete(id);
  });
  socket.addEventListener('close', () => {
    for (const { reject } of waiting.values()) reject(new Error('Firefox has ended'));
  });
  let last = 0;
  const send = (method: string, params: object) => {
    const answer = Promise.withResolvers<any>();
    waiting.set((last += 1), answer);
    socket.send(JSON.stringify({ id: last, method, params }));
    return answer.promise;
  };
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', reject);
  });
  await send('session.new', { capabilities: {} });
  await send('session.subscribe', { events: ['log.entryAdded'] });
  return { send, wrong };
}

/** As `loaded` of browser.ts asks for. */
const COMPLETE = `new Promise((resolve) => {
  const look = () => document.querySelector('main:not([aria-busy], [data-top-first]) h1') === null ? requestAnimationFrame(look) : resolve(true);
  look();
})`;

async function tabOf({ send, wrong }: Connection): Promise<FirefoxTab> {
  const { contexts } = await send('browsingContext.getTree', {});
  const { context } = contexts[0];
  const evaluate = async <Result>(script: string): Promise<Result> => {
    const { type, result, exceptionDetails } = await send('script.evaluate', {
      expression: `(async () => JSON.stringify([await (${script})]))()`,
      target: { context },
      awaitPromise: true,
    });
    if (type !== 'success') throw new Error(exceptionDetails.text);
    return JSON.parse(result.value)[0];
  };
  return {
    wrong: () => wrong.splice(0),
    setWidth: (width) =>
      send('browsingContext.setViewport', { context, viewport: { width, height: 900 } }),
    open: async (url) => {
      await send('browsingContext.navigate', { context, url, wait: 'complete' });
      await evaluate(COMPLETE);
    },
    evaluate,
  };
}
