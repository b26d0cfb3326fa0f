import { send } from '../api.ts';
import { type Attributes, h, replace } from '../element.ts';
import { count, prettyJson } from '../format.ts';
import { field, onSubmit } from '../ui.ts';
import {
  type Endpoint,
  type Parameter,
  type Schema,
  type Schemas,
  resolve,
} from './description.ts';

/** How many characters of a longer response are shown. */
const MAX_SHOWN = 100_000;

/** A form with a field per parameter; it sends the request and shows the response. */
export function tryIt({ method, path, operation }: Endpoint, schemas: Schemas): HTMLElement {
  const { parameters, requestBody } = operation;
  const example = JSON.stringify(requestBody?.content['application/json']?.example, null, 2);
  const body =
    requestBody && h('textarea', { name: ' body', rows: 8, spellcheck: 'false' }, example);
  const place = h('div.response', { 'aria-live': 'polite' });
  const form = h(
    'form.try',
    h('div.pair', ...parameters.map((parameter) => fieldOf(parameter, schemas))),
    body && field('Body', body),
    h('button.primary', { type: 'submit' }, `Send ${method}`),
    place,
  );
  onSubmit(form, async (data) => {
    const { url, headers } = requestOf(data, { path, parameters });
    const startedAt = performance.now();
    try {
      const response = await send(url, { method, headers, ...(body && { body: body.value }) });
      const text = await response.text();
      const took = Math.round(performance.now() - startedAt);
      replace(
        place,
        h('p', h('code', `${method} ${url}`)),
        h(
          response.ok ? 'p.good' : 'p.loss',
          h('strong', response.status),
          ` ${response.statusText}, ${took} ms, ${count(text.length)} characters`,
        ),
        h('pre', { tabindex: 0 }, shown(text)),
      );
    } catch (error) {
      replace(place, h('p.notice.bad', `No response: ${String(error)}`));
    }
  });
  return form;
}

function fieldOf(
  { name, in: place, required, schema: described }: Parameter,
  schemas: Schemas,
): HTMLElement {
  const schema = resolve(described, schemas);
  const choices = schema.enum ?? (schema.type === 'boolean' ? ['true', 'false'] : undefined);
  const input =
    choices === undefined
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
          ...['', ...choices].map((value) => h('option', { value: String(value) }, String(value))),
        );
  return field([name, h('span.quiet', ` ${place}`)], input);
}

/** The browser's own input aids: a calendar, a number within its limits. */
function inputFor({ type, format, minimum, maximum }: Schema): Attributes {
  if (type === 'integer') return { type: 'number', min: minimum, max: maximum, step: 1 };
  return { type: format === 'date' ? 'date' : 'text' };
}

function requestOf(
  form: FormData,
  { path, parameters }: { path: string; parameters: readonly Parameter[] },
) {
  const given = (place: Parameter['in']) =>
    parameters
      .filter((parameter) => parameter.in === place)
      .map(({ name }): [string, string] => [name, String(form.get(name) ?? '')])
      .filter(([, value]) => value !== '');
  const values = new Map(given('path'));
  const filled = path.replace(/\{(\w+)\}/g, (part, name: string) =>
    encodeURIComponent(values.get(name) ?? part),
  );
  const query = new URLSearchParams(given('query'));
  return {
    url: query.size === 0 ? filled : `${filled}?${query}`,
    headers: { 'content-type': 'application/json', ...Object.fromEntries(given('header')) },
  };
}

function shown(text: string): string {
  const pretty = prettyJson(text);
  return pretty.length <= MAX_SHOWN ? pretty : `${pretty.slice(0, MAX_SHOWN)}\n… cut off here`;
}
