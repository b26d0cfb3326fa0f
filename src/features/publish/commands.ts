import { command, jobOption, studyOption } from '#commands/command.ts';
import type { Application } from '#http/application.ts';

/** Feature: a folder of files that shows the pages without a server. */

export const publishCommand = (load: () => Promise<Application>) =>
  command({
    summary: 'Writes the pages into a folder for any file server.',
    details: [
      'A snapshot, whether or not the service is running: see docs/guides/publish-and-export.md. A second run changes',
      'only what changed. A folder with files of others is refused. Exit code 0, or 1 on failure.',
    ],
    options: {
      job: jobOption,
      study: studyOption,
      models: { value: 'A,B,...', text: 'Only these models; without pages of jobs.' },
      start: { value: 'DATE', text: 'From this date on; without pages of jobs.' },
      end: { value: 'DATE', text: 'Up to this date; without pages of jobs.' },
      title: { value: 'TEXT', text: 'The title of the site. Default: Trading Simulation.' },
      'without-conversations': { text: 'Leave out what the models read and said.' },
      url: { value: 'URL', text: 'Where the folder will be: link previews need it.' },
      chromium: { value: 'PROGRAM', text: 'A Chromium, to make the preview as PNG too.' },
    },
    positionals: { name: 'DIR', least: 1, most: 1 },
    example: 'publish --job JOB-ID site',
    run: async ({ values, rest: [folder = ''] }) =>
      (await import('./publish-command.ts')).publish(folder, values, await load()),
  });
