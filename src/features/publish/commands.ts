import { command, jobOption, studyOption } from '#commands/command.ts';
import type { Application } from '#http/application.ts';

/** Feature: a folder of files that shows the pages without a server. */

export const publishCommand = (load: () => Promise<Application>) =>
  command({
    summary: 'Writes the pages with their data into a folder for any file server.',
    details: [
      'The folder shows the results of one moment; the service may run. A second run writes only what has ' +
        'changed. `publish` refuses a folder that contains files it did not create.',
    ],
    exitCodes: '0 if the folder is complete, otherwise 1.',
    options: {
      job: jobOption,
      study: studyOption,
      models: { value: 'A,B,...', text: 'Only these models. Leaves out the job pages.' },
      start: { value: 'DATE', text: 'First date, YYYY-MM-DD. Leaves out the job pages.' },
      end: { value: 'DATE', text: 'Last date, YYYY-MM-DD. Leaves out the job pages.' },
      title: { value: 'TEXT', text: 'The title of the site. Default: Trading Simulation.' },
      'without-conversations': { text: 'Leave out all that the models read and wrote.' },
      url: { value: 'URL', text: 'The URL of the published folder, for link previews.' },
      chromium: { value: 'PROGRAM', text: 'A Chromium that makes the preview image.' },
    },
    positionals: { name: 'DIR', least: 1, most: 1 },
    example: 'publish --job JOB-ID site',
    run: async ({ values, rest: [folder = ''] }) =>
      (await import('./publish-command.ts')).publish(folder, values, await load()),
  });
