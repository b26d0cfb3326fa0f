import { command, oneFile, optionalFile, WRITTEN } from '#commands/command.ts';

/** Feature: copies of the database, whole or of one job as a package, and their restore. */

export const backupCommand = command({
  summary: 'Copies the database, or one job of it.',
  details: [
    'The service may run. The copy is verified before it gets its name, and no file is overwritten. Without ' +
      'FILE it goes to `data/agent_data/`, named after the time.',
    'With `--job` the copy is a package: one ended job, with all that `check` needs to verify it. It needs free ' +
      'disk space for a copy of the whole database.',
  ],
  exitCodes: WRITTEN,
  options: {
    job: { value: 'JOB-ID', text: 'Copy only this job, as a package that anyone can verify.' },
  },
  positionals: optionalFile,
  example: 'backup before-upgrade.db',
  run: async ({ values, rest }) => (await import('./backup-command.ts')).backup(rest[0], values),
});

export const restoreCommand = command({
  summary: 'Replaces the database with a backup or a package.',
  details: [
    'Stop the service first. `restore` verifies FILE and puts a copy in the place of the database that ' +
      '`DEPLOYMENT_MODE` selects. It keeps the old database as `data/jobs-before-restore-TIME.db`.',
  ],
  exitCodes: '0 if the database was replaced, 1 if nothing was changed.',
  options: {},
  positionals: oneFile,
  example: 'restore before-upgrade.db',
  run: async ({ rest: [file = ''] }) => (await import('./backup-command.ts')).restore(file),
});
