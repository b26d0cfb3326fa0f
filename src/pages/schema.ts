import { h } from './element.ts';
import type { Schema } from './reference.ts';

const MAX_DEPTH = 6;

/** The fields of a schema, those inside objects and lists below them. */
export function schemaTable(schema: Schema): HTMLElement {
  const rows = fieldsOf(schema, '', 0);
  if (rows.length === 0) return h('p', { class: 'quiet' }, `${typeOf(schema)}.`);
  return h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Fields' },
    h(
      'table',
      { class: 'fields' },
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          h('th', { scope: 'col' }, 'Field'),
          h('th', { scope: 'col' }, 'Type'),
          h('th', { scope: 'col' }, ''),
        ),
      ),
      h(
        'tbody',
        {},
        ...rows.map(({ name, type, note }) =>
          h(
            'tr',
            {},
            h('th', { scope: 'row' }, h('code', {}, name)),
            h('td', {}, type),
            h('td', { class: 'quiet' }, note),
          ),
        ),
      ),
    ),
  );
}

interface Field {
  name: string;
  type: string;
  note: string;
}

function fieldsOf(schema: Schema, prefix: string, depth: number): Field[] {
  if (depth > MAX_DEPTH) return [];
  const inner = schema.anyOf?.find(({ properties, items }) => properties ?? items) ?? schema;
  if (inner.items) return fieldsOf(inner.items, `${prefix}[]`, depth + 1);
  return Object.entries(inner.properties ?? {}).flatMap(([name, field]) => {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    const isRequired = inner.required?.includes(name) ?? false;
    return [{ name: path, type: typeOf(field), note: noteOf(field, isRequired) }, ...fieldsOf(field, path, depth + 1)];
  });
}

function typeOf({ type, format, enum: values, const: fixed, anyOf, items, $ref }: Schema): string {
  if (fixed !== undefined) return JSON.stringify(fixed);
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(' | ');
  if (anyOf !== undefined) return [...new Set(anyOf.map(typeOf))].join(' | ');
  if ($ref !== undefined) return $ref.split('/').at(-1) ?? $ref;
  if (items !== undefined) return `list of ${typeOf(items)}`;
  const name = Array.isArray(type) ? type.join(' | ') : (type ?? 'anything');
  return format === undefined ? name : `${name} (${format})`;
}

function noteOf({ description, default: standard, place }: Schema, isRequired: boolean): string {
  const notes = [
    typeof place === 'string' ? `in the ${place}` : '',
    isRequired ? 'required' : '',
    standard === undefined ? '' : `default ${JSON.stringify(standard)}`,
    description ?? '',
  ];
  return notes.filter((note) => note !== '').join('; ');
}
