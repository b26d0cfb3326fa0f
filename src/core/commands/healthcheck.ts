import { readFileSync } from 'node:fs';
import { httpRequest } from '#network/http-client.ts';
import { asObject, tryParse } from '#json/json.ts';
import { localUrl, readSettings } from '#settings/settings.ts';
import { forTerminal } from '#text/text.ts';
import { isExecutable, readAsset } from '#process/program.ts';

/** A health response is a few hundred bytes. */
const LIMITS = { timeoutMs: 5_000, maxBytes: 64 * 1024 };

/**
 * The command `healthcheck`, for containers without a shell: 0 when the service at API_HOST and
 * API_PORT is healthy, otherwise 1.
 */
export async function healthcheck(): Promise<number> {
  const response = await httpRequest(`${localUrl(readSettings(process.env))}/health`, {
    ...LIMITS,
    isDirect: true,
  });
  const report =
    response.failure === undefined
      ? asObject(tryParse(response.text))
      : { status: `unreachable: ${response.message}` };
  const state =
    report === undefined
      ? 'unreachable: the response is not a health report'
      : String(report['status']);
  process.stdout.write(`${forTerminal(state)}\n`);
  return state === 'healthy' ? 0 : 1;
}

/**
 * The licence texts of this program and everything in it: the comment at the top of the built file.
 * The executable, which contains Node too, has them as an asset.
 */
export function licences(): string {
  if (isExecutable) return readAsset('LICENCES');
  const [, texts = ''] =
    /^\/\*!\n(.*?)\n\*\/\n/s.exec(readFileSync(import.meta.filename, 'utf8')) ?? [];
  return `${texts}\n`;
}
