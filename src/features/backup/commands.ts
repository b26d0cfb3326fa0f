import { command, oneFile, optionalFile } from '#commands/command.ts';

/** Feature: copies of the database, whole or of one job as a package, and their restore. */

export const backupCommand = command({
  summary: 'Copies the database, or one job of it, whether or not the service runs.',
  details: [
    'Without FILE the copy is written to data/agent_data/ and named after the time. No file is',
    'overwritten. Exit code 0, or 1 on failure, which leaves no files behind.',
  ],
  options: {
    job: { value: 'JOB-ID', text: 'Only this job, verifiable: see docs/guides/verify.md.' },
  },
  positionals: optionalFile,
  example: 'backup before-upgrade.db',
  run: async ({ values, rest }) => (await import('./backup-command.ts')).backup(rest[0], values),
});

export const restoreCommand = command({
  summary: 'Replaces the database with a backup, while no service is running.',
  details: [
    'Verifies FILE, keeps the database under another name, and puts a copy in its place.',
    'DEPLOYMENT_MODE says which database. Exit code 0, or 1 with nothing changed.',
  ],
  options: {},
  positionals: oneFile,
  example: 'restore before-upgrade.db',
  run: async ({ rest: [file = ''] }) => (await import('./backup-command.ts')).restore(file),
});
