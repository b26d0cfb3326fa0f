import { command, jobOption, studyOption } from '#commands/command.ts';

/** Feature: conversations as lines of JSON, for fine-tuning and for judges. */

export const exportCommand = command({
  summary: 'Writes conversations as messages, one line of JSON per completed model-day.',
  details: [
    'For fine-tuning, for judges: the form is in docs/guides/publish-and-export.md. Works whether or not the service',
    'runs. No file is overwritten. Exit code 0, or 1 on failure, which leaves no file behind.',
  ],
  options: {
    job: jobOption,
    models: { value: 'A,B,...', text: 'Only these models, with all repeats, or single runs.' },
    study: studyOption,
    start: { value: 'DATE', text: 'From this date on, YYYY-MM-DD.' },
    end: { value: 'DATE', text: 'Up to this date.' },
    'with-reasoning': { text: "Add the models' reasoning, where their providers returned it." },
  },
  positionals: { name: 'conversations FILE', least: 2, most: 2 },
  example: 'export conversations days.jsonl --models gpt-5',
  run: async ({ values, rest: [what = '', file = ''] }) =>
    (await import('./export-conversations.ts')).exportConversations(what, file, values),
});
