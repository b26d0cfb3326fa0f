import { command, files } from '#commands/command.ts';

/** Feature: filings, news and other texts from files. */

export const importDocumentsCommand = command({
  summary: 'Imports filings, news and other texts, as of their dates.',
  details: [
    '- is standard input. Bad rows are skipped. Exit codes as import-prices. See docs/guides/filings-and-news.md.',
  ],
  options: {},
  positionals: files,
  example: 'import-documents filings.jsonl news.json.gz',
  run: async ({ rest }) => (await import('./import-documents.ts')).importDocumentFiles(rest),
});
