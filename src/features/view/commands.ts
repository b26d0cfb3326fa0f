import { command, oneFile } from '#commands/command.ts';
import type { Application } from '#http/application.ts';

/** Feature: a view, that is the pages and GET routes of a database file, without jobs. */

export const viewCommand = (load: () => Promise<Application>) =>
  command({
    summary: 'Serves the pages of a database file. Read-only, without jobs.',
    details: [
      'FILE is a package, a backup, or the database of a service, which may run: new results appear on the ' +
        'pages. It listens on `API_HOST` and `API_PORT` until SIGTERM or Ctrl-C.',
    ],
    exitCodes: '0 after SIGTERM or Ctrl-C, 1 if it cannot read the file or the port is taken.',
    options: {},
    positionals: oneFile,
    example: 'view paper.db',
    run: async ({ rest: [file = ''] }) => (await import('./view.ts')).view(file, await load()),
  });
