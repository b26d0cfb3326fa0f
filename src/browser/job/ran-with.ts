import { entryView } from '../model/entry.ts';
import { definitions, section } from '../parts/blocks.ts';
import { h } from '../parts/element.ts';
import { counted } from '../parts/format.ts';
import type { JobEntry, Status } from '../service/responses.ts';
import { entryName } from './job-words.ts';
import { termsInWords } from './terms.ts';

/** What a job ran with: its terms, and what each model was asked. */
export function ranWith(status: Status): HTMLElement {
  const { symbols } = status.terms;
  return section(
    'Terms',
    definitions('entry', termsInWords(status)),
    h('details.fold', h('summary', counted(symbols.length, 'symbol')), h('p', symbols.join(', '))),
    h('h3', 'What ran'),
    ...status.entries.map(entryFold),
  );
}

function entryFold(ran: JobEntry): HTMLElement {
  return h('details.fold', h('summary', entryName(ran)), entryView(ran.entry));
}
