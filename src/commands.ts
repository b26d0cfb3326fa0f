import {
  checkCommand,
  downloadPricesCommand,
  healthcheckCommand,
  mergeConfigCommand,
  serveCommand,
  triggerCommand,
  watchCommand,
} from './core/commands/commands.ts';
import type { Commands } from './core/commands/command.ts';
import type { Application } from './core/http/application.ts';
import { backupCommand, restoreCommand } from './features/backup/commands.ts';
import { disguiseCommand } from './features/control-markets/commands.ts';
import { demoCommand } from './features/demo/commands.ts';
import { importDocumentsCommand } from './features/document-files/commands.ts';
import { exportCommand } from './features/export/commands.ts';
import { importPricesCommand } from './features/price-files/commands.ts';
import { publishCommand } from './features/publish/commands.ts';
import { importFactorsCommand } from './features/style/commands.ts';
import { viewCommand } from './features/view/commands.ts';

/** What commands that serve pages load, and others do not. */
const load = async (): Promise<Application> => (await import('./routes.ts')).application;

/** THE COMMAND LINE ON ONE SCREEN, in the order of the help page: core and features meet here. */
export const commands: Commands = {
  serve: serveCommand(load),
  demo: demoCommand(load),
  'import-prices': importPricesCommand,
  'import-documents': importDocumentsCommand,
  'import-factors': importFactorsCommand,
  'download-prices': downloadPricesCommand,
  disguise: disguiseCommand,
  trigger: triggerCommand,
  watch: watchCommand,
  backup: backupCommand,
  restore: restoreCommand,
  check: checkCommand(async (...given) => {
    const { compareWithFiles } = await import('./features/price-files/compare-with-files.ts');
    return compareWithFiles(...given);
  }),
  view: viewCommand(load),
  publish: publishCommand(load),
  export: exportCommand,
  'merge-config': mergeConfigCommand,
  healthcheck: healthcheckCommand,
};
