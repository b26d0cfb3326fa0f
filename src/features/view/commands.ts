import { command, oneFile } from '#commands/command.ts';
import type { Application } from '#http/application.ts';

/** Feature: a view, that is the pages and GET routes of a database file, without jobs. */

export const viewCommand = (load: () => Promise<Application>) =>
  command({
    summary: 'Serves the pages of a database file; runs no jobs, changes nothing.',
    details: [
      'Listens on API_HOST and API_PORT. FILE is a package of backup --job, a backup, or the database',
      'of a service, which may be running: new results appear. Ends with SIGTERM or Ctrl-C.',
    ],
    options: {},
    positionals: oneFile,
    example: 'view paper.db',
    run: async ({ rest: [file = ''] }) => (await import('./view.ts')).view(file, await load()),
  });
