import { basename } from 'node:path';
import { withNewestSchema } from '../database/newest-schema.ts';
import { OlderSchema } from '../database/read-only.ts';
import { readAccessTokens } from '../http/access-tokens.ts';
import { createStderrLog } from '../log.ts';
import { readSettings } from '../settings.ts';
import { forTerminal } from '../text.ts';
import { VERSION } from '../version.ts';
import { startView } from '../view.ts';
import { builtPages, keepMemoryFlat, makeThreads, stopOnSignal } from './serving.ts';

const MODES = {
  DEV: 'made in DEV mode, with simulated models',
  PROD: 'made in PROD mode',
  UNKNOWN: 'made in an unknown mode',
};

/**
 * The command `view FILE`: shows a file until SIGTERM or SIGINT; a migrated copy of one with the
 * schema of an earlier program.
 */
export async function view(path: string): Promise<void> {
  await makeThreads();
  try {
    await show(path);
  } catch (error) {
    if (!(error instanceof OlderSchema)) throw error;
    await withNewestSchema(path, async (copy, older) => {
      await show(path, {
        copy,
        isCopy: true,
        note: `, schema version ${older?.version}, shown as a migrated copy`,
      });
      await new Promise(() => {}); // the copy is removed at the end of the process
    });
  }
}

async function show(
  path: string,
  { copy, isCopy, note } = { copy: path, isCopy: false, note: '' },
): Promise<void> {
  const settings = readSettings(process.env);
  const log = createStderrLog(settings.logLevel);
  const accessTokens = readAccessTokens(settings);
  const [name, clock, pages] = [basename(path), () => new Date(), builtPages()] as const;
  const { port, mode, stop } = await startView({
    path: copy,
    name,
    isCopy,
    settings,
    log,
    clock,
    accessTokens,
    pages,
  });
  stopOnSignal(stop, log);
  log.info('listening', {
    version: VERSION,
    port,
    mode,
    view: path,
    accessTokens: accessTokens.length,
  });
  process.stdout.write(
    `${forTerminal(path)}, ${MODES[mode]}${note}: http://localhost:${port}/ (Ctrl-C ends it)\n`,
  );
  keepMemoryFlat();
}
