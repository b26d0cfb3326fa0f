import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { installProgram, PROGRAM_FILE, startServer } from './program.ts';

/** A folder in which the commands of a page run as a reader types them. */

/** The code blocks of a page in one language, also those inside a list. */
export function readBlocks(page: string, language: string): string[] {
  const text = readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8');
  const fences = text.matchAll(/^( *)```(\w*)\n([^]*?)^\1```$/gm);
  return [...fences].flatMap(([, indent = '', of, block = '']) =>
    of === language ? [block.replaceAll(new RegExp(`^${indent}`, 'gm'), '')] : [],
  );
}

/** With a URL, before it at most `-H` and a header. */
const CURL = `
  const [url, header] = process.argv.slice(1).reverse();
  const headers = header === undefined ? [] : [header.split(": ")];
  fetch("http://" + url, { headers }).then(async (r) => process.stdout.write(await r.text()))`;

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

export interface PageFolder {
  path: string;
  write(name: string, text: string): void;
  /** Runs a shell block, in which `npx trading-simulation-service` and `localhost:8080` work. */
  run(block: string, env?: Record<string, string>): Promise<Ended>;
  /** Starts the service with the folder's `.env`. */
  serve(env?: Record<string, string>): Promise<string>;
}

/** With the configuration in `my-config.json`, which `.env` names. */
export function preparePage(t: TestContext, configuration: string, dotenv = ''): PageFolder {
  const path = installProgram();
  const bin = join(path, 'bin');
  mkdirSync(bin);
  const write = (name: string, text: string) => writeFileSync(join(path, name), text);
  const script = (name: string, text: string) => {
    write(`bin/${name}`, `#!/bin/sh\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  const node = `"${process.execPath}"`;
  script(
    'npx',
    `[ "$1" = trading-simulation-service ] && shift && exec ${node} ${PROGRAM_FILE} "$@"`,
  );
  script('curl', `exec ${node} -e '${CURL}' -- "$@"`);
  write('my-config.json', configuration);
  write('.env', dotenv || 'RUNTIME_CONFIG_PATH=my-config.json\n');
  let url = 'http://127.0.0.1:9';
  return {
    path,
    write,
    async run(block, env = {}) {
      const text = block.replaceAll('localhost:8080', new URL(url).host);
      const PATH = `${bin}:${process.env['PATH']}`;
      const options = { cwd: path, env: { PATH, API_URL: url, ...env } };
      const { promise, resolve } = Promise.withResolvers<Ended>();
      execFile('sh', ['-c', text], options, (error, stdout, stderr) =>
        resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
      );
      return promise;
    },
    async serve(env = {}) {
      const RUNTIME_CONFIG_PATH = 'my-config.json';
      ({ url } = await startServer(t, { cwd: path, env: { RUNTIME_CONFIG_PATH, ...env } }));
      return url;
    },
  };
}
