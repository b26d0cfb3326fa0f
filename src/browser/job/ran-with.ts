import { entryView } from '../model/entry.ts';
import { definitions, section } from '../parts/blocks.ts';
import { h } from '../parts/element.ts';
import { counted } from '../parts/format.ts';
import type { JobEntry, Status } from '../service/responses.ts';
import { termsInWords } from './terms.ts';

/** What a job ran with: its terms, and what each model was asked. */
export function ranWith(status: Status): HTMLElement {
  const { symbols } = status.terms;
  return section(
    'What it ran with',
    definitions('entry', termsInWords(status)),
    h('details.fold', h('summary', counted(symbols.length, 'symbol')), h('p', symbols.join(', '))),
    h('h3', 'What each model was asked'),
    ...status.entries.map(entryFold),
  );
}

function entryFold({ family, runs, entry }: JobEntry): HTMLElement {
  const title = runs.length > 1 ? `${family}, ${counted(runs.length, 'run')}` : (runs[0] ?? family);
  return h('details.fold', h('summary', title), entryView(entry));
}
