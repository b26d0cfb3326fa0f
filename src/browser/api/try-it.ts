import { send } from '../service/requests.ts';
import { type Attributes, h, on, replace } from '../parts/element.ts';
import { type Endpoint, type Parameter, type Schema, type Schemas, jsonOf, resolve } from './description.ts';

/** Of a longer answer this much is shown. */
const MAX_SHOWN = 100_000;

/** A form with a field per parameter that sends the request as it stands and shows what comes back. */
export function tryIt({ method, path, operation }: Endpoint, schemas: Schemas): HTMLElement {
  const example = jsonOf(operation.requestBody?.content)?.example;
  const body =
    operation.requestBody &&
    h('textarea', { name: ' body', rows: 8, spellcheck: 'false' }, JSON.stringify(example, null, 2));
  const answer = h('div', { class: 'answer', 'aria-live': 'polite' });
  const submit = h('button', { type: 'submit', class: 'primary' }, `Send ${method}`);
  const form = h(
    'form',
    { class: 'try' },
    h('div', { class: 'pair' }, ...operation.parameters.map((parameter) => fieldOf(parameter, schemas))),
    body && h('label', { class: 'field' }, h('span', {}, 'Body'), body),
    submit,
    answer,
  );
  on(form, 'submit', (event) => {
    event.preventDefault();
    submit.disabled = true;
    const request = requestOf(new FormData(form), { path, parameters: operation.parameters });
    const startedAt = performance.now();
    send(request.path, { method, headers: request.headers, ...(body && { body: body.value }) })
      .then(async (response) =>
        showAnswer(answer, { line: `${method} ${request.path}`, response, text: await response.text(), startedAt }),
      )
      .catch((error: unknown) => replace(answer, h('p', { class: 'notice bad' }, `No answer: ${String(error)}`)))
      .finally(() => (submit.disabled = false));
  });
  return form;
}

function fieldOf({ name, in: place, required, schema: described }: Parameter, schemas: Schemas): HTMLElement {
  const schema = resolve(described, schemas);
  const options = schema.enum ?? (schema.type === 'boolean' ? ['true', 'false'] : undefined);
  const input =
    options === undefined
      ? h('input', {
          name,
          required,
          autocomplete: 'off',
          spellcheck: 'false',
          ...inputFor(schema),
        })
      : h(
          'select',
          { name },
          h('option', { value: '' }, ''),
          ...options.map((value) => h('option', {}, String(value))),
        );
  return h('label', { class: 'field' }, h('span', {}, name, h('span', { class: 'quiet' }, ` ${place}`)), input);
}

/** What a browser can help with: a calendar, a number within its limits. */
function inputFor({ type, format, minimum, maximum }: Schema): Attributes {
  if (type === 'integer') return { type: 'number', min: minimum as number, max: maximum as number, step: 1 };
  return { type: format === 'date' ? 'date' : 'text' };
}

function requestOf(form: FormData, { path, parameters }: { path: string; parameters: readonly Parameter[] }) {
  const given = parameters
    .map((parameter) => ({ ...parameter, value: String(form.get(parameter.name) ?? '') }))
    .filter(({ value }) => value !== '');
  const inPlace = (place: Parameter['in']) => given.filter((parameter) => parameter.in === place);
  const filled = inPlace('path').reduce(
    (address, { name, value }) => address.replace(`{${name}}`, encodeURIComponent(value)),
    path,
  );
  const query = new URLSearchParams(inPlace('query').map(({ name, value }) => [name, value]));
  const headers: Record<string, string> = Object.fromEntries(inPlace('header').map(({ name, value }) => [name, value]));
  return {
    path: query.size === 0 ? filled : `${filled}?${query}`,
    headers: { 'content-type': 'application/json', ...headers },
  };
}

interface Received {
  line: string;
  response: Response;
  text: string;
  startedAt: number;
}

function showAnswer(place: HTMLElement, { line, response, text, startedAt }: Received): void {
  const took = Math.round(performance.now() - startedAt);
  const shown = pretty(text);
  replace(
    place,
    h('p', {}, h('code', {}, line)),
    h(
      'p',
      { class: response.ok ? 'good' : 'loss' },
      h('strong', {}, response.status),
      ` ${response.statusText}, ${took} ms, ${text.length.toLocaleString('en-US')} characters`,
    ),
    h('pre', { tabindex: 0 }, shown.length <= MAX_SHOWN ? shown : `${shown.slice(0, MAX_SHOWN)}\n… cut off here`),
  );
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
