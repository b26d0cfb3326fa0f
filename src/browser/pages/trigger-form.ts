import { send } from '../api.ts';
import { h, replace } from '../element.ts';
import { byName, namesIn } from '../format.ts';
import { pollSoon } from '../poll.ts';
import type { KnownModels, TriggerRequest, TriggerResponse } from '../responses.ts';
import { field, fillOptions, messageOf, modelBox, onSubmit } from '../ui.ts';

interface TriggerForm {
  /** Folded at first. */
  element: HTMLDetailsElement;
  /**
   * Offers the models of the configuration, and those that have results, to choose from; and the
   * universes, if it names some.
   */
  offer(known: KnownModels): void;
}

/** A form that starts a job. What the server replies is shown word for word. */
export function triggerForm(): TriggerForm {
  const problem = h('p.notice.bad', { role: 'alert', hidden: true });
  const success = h('p.notice.good', { role: 'status', hidden: true });
  const models = h('div.choices');
  const universe = h('select', { name: 'universe' });
  const universes = field('Universe', universe, 'What the models may buy');
  universes.hidden = true;
  const form = formOf(models, universes, problem, success);
  const show = (place: HTMLElement, words: string) => {
    replace(place, words);
    place.hidden = false;
  };
  onSubmit(form, async (data) => {
    problem.hidden = success.hidden = true;
    try {
      const { message, warnings } = await send<TriggerResponse>(
        'POST',
        '/simulate/trigger',
        requestOf(data),
      );
      show(success, [message, ...(warnings ?? [])].join('. '));
      pollSoon();
    } catch (error) {
      show(problem, messageOf(error));
    }
  });
  return {
    element: h('details.start', h('summary', h('h2', 'Start a job')), form),
    offer({ models: known, universes: names, configuration_error: fault }) {
      const chosen = new Set(new FormData(form).getAll('models'));
      const entries = known.filter(
        // Each means all its repeats. A name that is only in failed jobs may be a typing error.
        ({ signature, family, configured, completed_model_days: days }) =>
          signature === family && (configured || days > 0),
      );
      entries.sort((one, other) => byName(one.signature, other.signature));
      const choices = entries.map((entry) =>
        modelBox(entry.signature, {
          isChosen: chosen.has(entry.signature),
          about: aboutEntry(entry, runsOf(entry, known)),
        }),
      );
      replace(models, fault !== null && h('p.notice', fault), ...choices);
      universes.hidden = names.length === 0;
      fillOptions(
        universe,
        [['', 'As configured'], ...names.map((name) => [name, name] as const)],
        universe.value,
      );
    },
  };
}

function formOf(
  models: HTMLElement,
  universes: HTMLElement,
  ...notices: readonly HTMLElement[]
): HTMLFormElement {
  const first = h('input', { type: 'date', name: 'start_date' });
  const last = h('input', { type: 'date', name: 'end_date', required: true });
  const others = h('input', {
    name: 'others',
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: 'signature, signature',
  });
  return h(
    'form.trigger',
    { novalidate: true },
    h(
      'div.pair',
      field('First date', first, 'Leave empty to continue after each model’s last day'),
      field('Last date', last, 'Not in the future'),
    ),
    h(
      'fieldset',
      h('legend', 'Models'),
      h('p.quiet', 'Choose none to run all enabled models'),
      models,
    ),
    field('Other models', others),
    universes,
    h(
      'label.check',
      h('input', { type: 'checkbox', name: 'replace_existing' }),
      'Replace existing results',
    ),
    ...notices,
    h('button.primary', { type: 'submit' }, 'Start job'),
  );
}

type KnownModel = KnownModels['models'][number];

/** How many runs a job makes of an entry. */
function runsOf({ signature }: KnownModel, known: readonly KnownModel[]): number {
  return known.filter(({ family, configured }) => configured && family === signature).length;
}

/** What is unusual about an entry. */
function aboutEntry({ enabled }: KnownModel, runs: number): string {
  return [...(runs > 1 ? [`${runs} runs`] : []), ...(enabled ? [] : ['not enabled'])].join(', ');
}

function requestOf(form: FormData): TriggerRequest {
  const models = chosenModels(form);
  return {
    start_date: String(form.get('start_date') ?? '') || null,
    end_date: String(form.get('end_date') ?? ''),
    models: models.length === 0 ? null : models,
    universe: String(form.get('universe') ?? '') || null,
    replace_existing: form.get('replace_existing') !== null,
  };
}

/** The ticked models, and those written into the field for others, each once. */
function chosenModels(form: FormData): string[] {
  return [
    ...new Set([
      ...form.getAll('models').map(String),
      ...namesIn(String(form.get('others') ?? '')),
    ]),
  ];
}
