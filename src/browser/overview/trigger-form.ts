import { triggerJob } from '../service/requests.ts';
import { type Child, h, newId, on, replace } from '../parts/element.ts';
import { pollSoon } from '../service/poll.ts';
import type { TriggerRequest } from '../service/responses.ts';

export interface TriggerForm {
  element: HTMLElement;
  /** Offers these models to tick; the fault is why those of the configuration are missing. */
  offer(models: readonly { model: string; isEnabled: boolean }[], fault: string | null): void;
}

/** A form that starts a job. What the server says to it is shown word for word. */
export function triggerForm(): TriggerForm {
  const problem = h('p', { class: 'notice bad', role: 'alert', hidden: true });
  const success = h('p', { class: 'notice good', role: 'status', hidden: true });
  const models = h('div', { class: 'choices' });
  const submit = h('button', { type: 'submit', class: 'primary' }, 'Start job');
  const form = h(
    'form',
    { class: 'trigger', novalidate: true },
    h(
      'div',
      { class: 'pair' },
      field(
        'First date',
        h('input', { type: 'date', name: 'start_date' }),
        'Empty: each model continues after its last day',
      ),
      field('Last date', h('input', { type: 'date', name: 'end_date', required: true }), 'Not in the future'),
    ),
    h(
      'fieldset',
      {},
      h('legend', {}, 'Models'),
      h('p', { class: 'quiet' }, 'None chosen: all that the configuration enables'),
      models,
    ),
    field(
      'Other models',
      h('input', { name: 'others', autocomplete: 'off', spellcheck: 'false', placeholder: 'signature, signature' }),
    ),
    h(
      'label',
      { class: 'check' },
      h('input', { type: 'checkbox', name: 'replace_existing' }),
      'Replace results that exist',
    ),
    problem,
    success,
    submit,
  );
  on(form, 'submit', (event) => {
    event.preventDefault();
    problem.hidden = success.hidden = true;
    submit.disabled = true;
    triggerJob(requestOf(new FormData(form)))
      .then((job) => {
        tell(success, [job.message, ...(job.warnings ?? [])].join('. '));
        pollSoon();
      })
      .catch((error: unknown) => tell(problem, error instanceof Error ? error.message : String(error)))
      .finally(() => (submit.disabled = false));
  });
  const offer: TriggerForm['offer'] = (known, fault) => {
    const chosen = new Set(new FormData(form).getAll('models'));
    replace(
      models,
      fault !== null && h('p', { class: 'notice' }, fault),
      ...known.map(({ model, isEnabled }) => choice(model, { isEnabled, isChosen: chosen.has(model) })),
    );
  };
  const id = newId();
  return { element: h('section', { 'aria-labelledby': id }, h('h2', { id }, 'Start a job'), form), offer };
}

function tell(place: HTMLElement, words: string): void {
  replace(place, words);
  place.hidden = false;
}

function choice(model: string, { isEnabled, isChosen }: { isEnabled: boolean; isChosen: boolean }): HTMLElement {
  const box = h('input', { type: 'checkbox', name: 'models', value: model });
  box.checked = isChosen;
  return h(
    'label',
    { class: 'check' },
    box,
    h('span', {}, model),
    !isEnabled && h('span', { class: 'quiet' }, 'not enabled'),
  );
}

function field(label: string, input: HTMLInputElement, hint: Child = null): HTMLElement {
  const id = newId();
  if (hint !== null) input.setAttribute('aria-describedby', id);
  return h(
    'label',
    { class: 'field' },
    h('span', {}, label),
    input,
    hint !== null && h('small', { id, class: 'quiet' }, hint),
  );
}

function requestOf(form: FormData): TriggerRequest {
  const others = String(form.get('others') ?? '').split(',');
  const models = [...form.getAll('models').map(String), ...others]
    .map((name) => name.trim())
    .filter((name) => name !== '');
  return {
    start_date: String(form.get('start_date') ?? '') || null,
    end_date: String(form.get('end_date') ?? ''),
    models: models.length === 0 ? null : [...new Set(models)],
    replace_existing: form.get('replace_existing') !== null,
  };
}
