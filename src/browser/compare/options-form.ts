import { h, on } from '../element.ts';
import { goTo } from '../router.ts';
import { type Entries, field, fillOptions } from '../ui.ts';
import { type Choice, type Options, addressOf, choiceIn } from './choice.ts';

interface OptionsForm {
  element: HTMLElement;
  /** Offers models to compare all others against. */
  offer(models: readonly string[]): void;
}

const ALIGNMENTS: Entries = [
  ['date', 'Date'],
  ['number', 'Number in each model’s market'],
];

const CONFIDENCES: Entries = ['0.8', '0.9', '0.95', '0.99'].map((value) => [
  value,
  `${Number(value) * 100} %`,
]);

/**
 * The options that only this page has; as with the bar of filters, a change becomes the page's
 * address.
 */
export function optionsForm({ options }: Choice): OptionsForm {
  const picker = (name: keyof Options, entries: Entries, chosen: string) => {
    const element = h('select', { name });
    fillOptions(element, entries, chosen);
    const change = () => {
      const now = choiceIn(location.search);
      goTo(addressOf({ ...now, options: { ...now.options, [name]: element.value } }));
    };
    return on(element, 'change', change);
  };
  const against = picker('against', [['', 'Every pair']], options.against);
  const form = h(
    'form.filters',
    { 'aria-label': 'Options of the comparison' },
    field('Against', against),
    field('Match days by', picker('align', ALIGNMENTS, options.align || 'date')),
    field('Confidence', picker('confidence', CONFIDENCES, options.confidence || '0.95')),
  );
  return {
    element: on(form, 'submit', (event) => event.preventDefault()),
    offer: (models) =>
      fillOptions(
        against,
        [['', 'Every pair'], ...models.map((name) => [name, name] as const)],
        options.against,
      ),
  };
}
