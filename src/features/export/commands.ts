import { command, jobOption, studyOption, WRITTEN } from '#commands/command.ts';

/** Feature: conversations as lines of JSON, for fine-tuning and for judges. */

export const exportCommand = command({
  summary: 'Writes conversations as JSON lines, one per completed model-day.',
  details: [
    'The lines have the form of chat messages, for fine-tuning and for judges. The service may run. No file ' +
      'is overwritten.',
  ],
  exitCodes: WRITTEN,
  options: {
    job: jobOption,
    models: {
      value: 'A,B,...',
      text: 'Only these models with all repeats, or runs such as `gpt-5#2`.',
    },
    study: studyOption,
    start: { value: 'DATE', text: 'First date, YYYY-MM-DD.' },
    end: { value: 'DATE', text: 'Last date, YYYY-MM-DD.' },
    'with-reasoning': { text: 'Add the reasoning that the providers returned.' },
  },
  positionals: { name: 'conversations FILE', least: 2, most: 2 },
  example: 'export conversations days.jsonl --models gpt-5',
  run: async ({ values, rest: [what = '', file = ''] }) =>
    (await import('./export-conversations.ts')).exportConversations(what, file, values),
});
