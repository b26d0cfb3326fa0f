import { readAccessTokens } from '../http/access-tokens.ts';
import { createStderrLog } from '../log.ts';
import { readSettings } from '../settings.ts';
import { forTerminal } from '../text.ts';
import { VERSION } from '../version.ts';
import { startView } from '../view.ts';
import { builtPages, keepMemoryFlat, makeThreads, stopOnSignal } from './serving.ts';

const MODES = { DEV: 'made in DEV mode, with simulated models', PROD: 'made in PROD mode', UNKNOWN: 'made in an unknown mode' };

/** The command `view FILE`: shows a file until SIGTERM or SIGINT. */
export async function view(path: string): Promise<void> {
  const settings = readSettings(process.env);
  const log = createStderrLog(settings.logLevel);
  const accessTokens = readAccessTokens(settings);
  await makeThreads();
  const { port, mode, stop } = await startView({ path, settings, log, clock: () => new Date(), accessTokens, pages: builtPages() });
  log.info('listening', { version: VERSION, port, mode, view: path, accessTokens: accessTokens.length });
  process.stdout.write(`${forTerminal(path)}, ${MODES[mode]}: http://localhost:${port}/ (Ctrl-C ends it)\n`);
  keepMemoryFlat();
  stopOnSignal(stop, log);
}
