import { command, files, IMPORTED } from '#commands/command.ts';

/** Feature: filings, news and other texts from files. */

export const importDocumentsCommand = command({
  summary: 'Imports filings, news and other texts for models to read.',
  details: [
    'A model can read a document only after its date of publication. A FILE is JSON lines or CSV, also ' +
      'compressed with gzip; `-` is standard input. Bad rows are reported and skipped.',
  ],
  exitCodes: IMPORTED,
  options: {},
  positionals: files,
  example: 'import-documents filings.jsonl news.json.gz',
  run: async ({ rest }) => (await import('./import-documents.ts')).importDocumentFiles(rest),
});
