import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingHttpHeaders, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { until } from '../../test/support/until.ts';

/**
 * One of the two programs: installed in a folder of its own, with a record of everything that it
 * has answered.
 */

/** A request or a command, and all that came back. */
export interface Entry {
  where: string;
  text: string;
}

export interface Ask {
  method?: string;
  /** Sent as JSON; a text as it is. */
  body?: unknown;
  headers?: Record<string, string>;
}

export interface Server {
  /** Asks, records the answer and resolves to its JSON, or null. */
  ask(path: string, ask?: Ask): Promise<any>;
  /** Asks without a record, until the answer is as it should be. */
  untilAnswer(path: string, isDone: (body: any) => boolean): Promise<any>;
  /** Ends the program by a signal, and records its exit and its log. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  port: string;
}

export interface Side {
  root: string;
  /** The folder of the current part, with the program in it: where commands run. */
  folder: string;
  entries: Entry[];
  /** What the entries from now on belong to. */
  scene: string;
  /** Begins a part of the story, in a folder of its own. */
  enter(part: string): void;
  /**
   * For servers on loopback that are made for tests: what they ask for at their end happens at the
   * end of this side.
   */
  t: TestContext;
  note(where: string, text: string): void;
  write(path: string, content: string | Buffer): void;
  run(args: readonly string[], env?: Record<string, string>): Promise<string>;
  serve(args: readonly string[], env?: Record<string, string>): Promise<Server>;
  end(): void;
}

/** Far more than any command or answer of this story takes. */
const PATIENCE_MS = 180_000;

/**
 * One child at a time, because the order of model-days that run side by side is that of chance;
 * days enough for a comparison.
 */
const SERIAL = {
  MAX_PARALLEL_MODELS: '1',
  MAX_SIMULATION_DAYS: '60',
  RUNTIME_CONFIG_PATH: 'runtime_config.json',
  TZ: 'UTC',
};

/**
 * What a reader does not get from the program but from Node, or what tells only the time and the
 * size.
 */
const PLAIN_HEADERS = new Set([
  'date',
  'content-length',
  'connection',
  'keep-alive',
  'transfer-encoding',
]);

export function openSide(program: string): Side {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'goldens-')));
  const children = new Set<ChildProcess>();
  const closers: (() => unknown)[] = [];
  const entries: Entry[] = [];
  const start = (args: readonly string[], env: Record<string, string> = {}) => {
    const child = spawn(process.execPath, ['server.js', ...args], {
      cwd: side.folder,
      env: { ...SERIAL, ...env },
    });
    children.add(child);
    return follow(child);
  };
  const side: Side = {
    ...{
      root,
      folder: root,
      entries,
      scene: '',
      t: { after: (close: () => unknown) => void closers.push(close) } as TestContext,
    },
    note: (where, text) => void entries.push({ where: `${side.scene}: ${where}`, text }),
    enter(part) {
      side.scene = part;
      side.folder = join(root, part);
      mkdirSync(side.folder);
      copyFileSync(program, join(side.folder, 'server.js'));
    },
    write(path, content) {
      mkdirSync(dirname(join(side.folder, path)), { recursive: true });
      writeFileSync(join(side.folder, path), content);
    },
    async run(args, env) {
      const program = start(args, env);
      const timer = setTimeout(() => program.child.kill('SIGKILL'), PATIENCE_MS);
      const text = await program.ended;
      clearTimeout(timer);
      side.note(`$ ${args.join(' ')}`, text);
      return text;
    },
    async serve(args, env) {
      const program = start(args, { API_PORT: '0', ...env });
      const port = await until('the program to listen', () => {
        if (program.child.exitCode !== null)
          throw new Error(`The program has ended:\n${program.output()}`);
        return /"message":"listening".*?"port":(\d+)|localhost:(\d+)\/ in a browser/
          .exec(program.output())
          ?.slice(1)
          .find(Boolean);
      });
      return serverOf(side, { program, port, name: args.join(' ') || 'serve' });
    },
    end() {
      children.forEach((child) => child.kill('SIGKILL'));
      closers.forEach((close) => close());
      rmSync(root, { recursive: true, force: true });
    },
  };
  return side;
}

interface Program {
  child: ChildProcess;
  output(): string;
  /** How it ended, and everything that it wrote. */
  ended: Promise<string>;
}

function follow(child: ChildProcess): Program {
  let [stdout, stderr] = ['', ''];
  child.stdout?.on('data', (chunk) => (stdout += chunk));
  child.stderr?.on('data', (chunk) => (stderr += chunk));
  const ended = once(child, 'close').then(
    ([code, signal]) => `exit ${code ?? signal}\n--- stdout\n${stdout}\n--- stderr\n${stderr}`,
  );
  return { child, ended, output: () => stdout + stderr };
}

function serverOf(
  side: Side,
  { program, port, name }: { program: Program; port: string; name: string },
): Server {
  const ask = async (path: string, { method = 'GET', body, headers = {} }: Ask = {}) => {
    const sent = typeof body === 'string' ? body : JSON.stringify(body);
    const json = {
      'content-type': 'application/json',
      'content-length': `${Buffer.byteLength(sent ?? '')}`,
    };
    const own: Record<string, string> = sent === undefined ? {} : json;
    const answer = await fetchPlain(Number(port), {
      path,
      method,
      headers: { ...own, ...headers },
      body: sent,
    });
    const shown = Object.entries(headers).map((header) => ` [${header.join(': ')}]`);
    side.note(
      `${method} ${path}${shown.join('')}${sent === undefined ? '' : ` ${sent}`}`,
      answer.text,
    );
    return answer.json;
  };
  return {
    ask,
    port,
    untilAnswer(path, isDone) {
      let last: any;
      const look = async () =>
        isDone((last = (await fetchPlain(Number(port), { path })).json)) && { last };
      const what = () => `${path} to answer otherwise than ${JSON.stringify(last).slice(0, 500)}`;
      return until(what, look, PATIENCE_MS).then((found) => found.last);
    },
    async stop(signal = 'SIGTERM') {
      program.child.kill(signal);
      side.note(`$ ${name}, until ${signal}`, await program.ended);
    },
  };
}

interface Plain {
  path: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string | undefined;
}

/**
 * Asks without the headers that `fetch` adds of itself; no answer is compressed unless `headers`
 * ask for it.
 */
async function fetchPlain(
  port: number,
  { body, ...request }: Plain,
): Promise<{ text: string; json: any }> {
  const sending = httpRequest({
    host: '127.0.0.1',
    port,
    timeout: PATIENCE_MS,
    agent: false,
    ...request,
  }).end(body);
  sending.on('timeout', () => sending.destroy(new Error(`No answer to ${request.path}`)));
  const [response] = await once(sending, 'response');
  const received = Buffer.concat(await response.toArray()).toString('utf8');
  const head = Object.entries(response.headers as IncomingHttpHeaders).filter(
    ([name]) => !PLAIN_HEADERS.has(name),
  );
  const lines = head.map(([name, value]) => `${name}: ${value}`);
  const isJson =
    response.headers['content-type']?.startsWith('application/json') === true && received !== '';
  return {
    text: [response.statusCode, ...lines, '', received].join('\n'),
    json: isJson ? JSON.parse(received) : null,
  };
}
