import { chosenModels, namesIn } from '../parts/names.ts';

/** What a reader compares, in the words of `GET /comparison`; empty means the service's default. */
export interface Choice {
  models: readonly string[];
  against: string;
  start_date: string;
  end_date: string;
  days: string;
  align: string;
  confidence: string;
}

const words = ['against', 'start_date', 'end_date', 'days', 'align', 'confidence'] as const;
type Word = (typeof words)[number];

/** The choice in the page's address; parameters that it does not know are ignored. */
export function choiceOf(search: string): Choice {
  const query = new URLSearchParams(search);
  return choiceFrom((name) => query.get(name) ?? '', namesIn(query.get('models') ?? ''));
}

/** The choice in a form: ticked models, and those written into its field for others. */
export function choiceIn(form: FormData): Choice {
  return choiceFrom((name) => String(form.get(name) ?? '').trim(), chosenModels(form));
}

function choiceFrom(read: (name: Word) => string, models: readonly string[]): Choice {
  return {
    models,
    against: read('against'),
    start_date: read('start_date'),
    end_date: read('end_date'),
    days: read('days'),
    align: read('align'),
    confidence: read('confidence'),
  };
}

/** What the service does anyway; the address need not say it. */
const DEFAULTS: Partial<Record<Word, string>> = { days: 'all', align: 'date', confidence: '0.95' };

/** The same choice as a query, for the address and for the request: `?models=gpt-5,claude%232&days=clean`, or nothing. */
export function queryOf(choice: Choice): string {
  const named = words.filter((name) => choice[name] !== '' && choice[name] !== DEFAULTS[name]);
  const given = named.map((name) => `${name}=${encodeURIComponent(choice[name])}`);
  if (choice.models.length > 0) given.unshift(`models=${choice.models.map(encodeURIComponent).join(',')}`);
  return given.length === 0 ? '' : `?${given.join('&')}`;
}
