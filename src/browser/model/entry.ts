import type { JobEntry } from '../responses.ts';
import { definitions } from '../ui.ts';

type Entry = JobEntry['entry'];

const KINDS: Record<Entry['kind'], string> = {
  provider: 'real model',
  simulated: 'simulated model',
  baseline: 'baseline',
  unlisted: 'not in the configuration',
};

/** What a run asks its model, as it was stored with the run. */
export function entryView(entry: Entry): HTMLElement {
  const {
    kind,
    basemodel,
    url,
    parameters,
    repeats,
    knowledge_cutoff: cutoff,
    max_cost_usd: limit,
  } = entry;
  const { model: _model, ...others } = parameters;
  const prices = entry.price_per_million_tokens;
  const rows: [string, string | null][] = [
    ['Model', `${basemodel} (${KINDS[kind]})`],
    ['Runs', repeats > 1 ? `${repeats}, this is run ${entry.run}` : null],
    ['Endpoint', url],
    ['Parameters', Object.keys(others).length > 0 ? JSON.stringify(others) : null],
    ['Notes', entry.notes ? 'kept from day to day' : null],
    ['Knowledge cutoff', cutoff],
    [
      'Dollars per million tokens',
      prices && kind !== 'baseline' ? `${prices.input} in, ${prices.output} out` : null,
    ],
    ['Cost limit per job', limit === null ? null : `$${limit}`],
    ['Tools', entry.tools.join(', ')],
    ['Prompt', entry.prompt],
  ];
  const known = rows.filter((row): row is [string, string] => row[1] !== null);
  return definitions('entry', known);
}
