import { field, onSubmit, section } from '../parts/blocks.ts';
import { modelBox, othersInput } from '../parts/choices.ts';
import { h, newId, replace } from '../parts/element.ts';
import { goTo } from '../parts/page.ts';
import type { KnownModels } from '../service/responses.ts';
import { type Choice, choiceIn, queryOf } from './choice.ts';

interface ChoiceForm {
  element: HTMLElement;
  /** Offers the entries that have results to choose from. */
  offer(known: KnownModels): void;
}

const MARKS = [
  ['all', 'All'],
  ['clean', 'After the latest knowledge cutoff'],
] as const;

const ALIGNMENTS = [
  ['date', 'Date'],
  ['number', 'Number in each model’s market'],
] as const;

const CONFIDENCES = ['0.8', '0.9', '0.95', '0.99'].map((value) => [value, `${Number(value) * 100} %`] as const);

/** A form that chooses what is compared; the choice becomes the page's address. */
export function choiceForm(choice: Choice): ChoiceForm {
  const models = h('div.choices');
  const list = h('datalist', { id: newId() });
  const others = othersInput('signature, gpt-5#2');
  others.value = choice.models.join(', ');
  const form = h(
    'form.trigger',
    { novalidate: true },
    h('fieldset', h('legend', 'Models'), h('p.quiet', 'Choose none to compare every model with at least 20 days'), models),
    field('Other models, or single runs', others),
    field('Against', textInput('against', choice.against, list.id), 'Empty: every pair'),
    list,
    h('div.pair', field('First date', dateInput('start_date', choice)), field('Last date', dateInput('end_date', choice))),
    field('Days', picker('days', choice.days || 'all', MARKS)),
    field('Match days by', picker('align', choice.align || 'date', ALIGNMENTS)),
    field('Confidence', picker('confidence', choice.confidence || '0.95', CONFIDENCES)),
    h('button.primary', { type: 'submit' }, 'Compare'),
  );
  onSubmit(form, async (data) => goTo(`/compare${queryOf(choiceIn(data))}`));
  return {
    element: section('Choice', form),
    offer({ models: known }) {
      const withDays = known.filter(({ completed_model_days: days }) => days > 0);
      const offered = [...new Set(withDays.map(({ family }) => family))];
      replace(models, ...offered.map((name) => modelBox(name, { isChosen: choice.models.includes(name) })));
      replace(list, ...offered.map((name) => h('option', { value: name })));
      others.value = choice.models.filter((name) => !offered.includes(name)).join(', ');
    },
  };
}

function textInput(name: string, value: string, list: string): HTMLElement {
  return Object.assign(h('input', { name, list, autocomplete: 'off', spellcheck: 'false' }), { value });
}

function dateInput(name: 'start_date' | 'end_date', choice: Choice): HTMLElement {
  return Object.assign(h('input', { type: 'date', name }), { value: choice[name] });
}

/** A list of values with the chosen one; a value from the address that is not among them is added as it is. */
function picker(name: string, chosen: string, values: readonly (readonly [value: string, label: string])[]): HTMLElement {
  const all = values.some(([value]) => value === chosen) ? values : [...values, [chosen, chosen] as const];
  const options = all.map(([value, label]) => h('option', { value, selected: value === chosen }, label));
  return h('select', { name }, ...options);
}
