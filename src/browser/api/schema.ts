import { h } from '../element.ts';
import { table } from '../table.ts';
import { type Schema, type Schemas, nameIn, resolve } from './description.ts';

const MAX_DEPTH = 6;

/** The fields of a schema; those of objects and lists inside it follow their own. */
export function schemaTable(schema: Schema, schemas: Schemas): HTMLElement {
  const rows = fieldsOf(schema, { schemas, prefix: '', depth: 0 });
  if (rows.length === 0) return h('p.quiet', `${typeOf(schema, schemas)}.`);
  return table<Field>({
    caption: 'Fields',
    rows,
    columns: [
      { title: 'Field', isName: true, cell: ({ name }) => h('code', name) },
      { title: 'Type', cell: ({ type }) => type },
      { title: 'Meaning', cell: ({ note }) => note, look: () => 'quiet note' },
    ],
  });
}

interface Field {
  name: string;
  type: string;
  note: string;
}

interface Place {
  schemas: Schemas;
  /** The names of the fields around it. */
  prefix: string;
  depth: number;
}

function fieldsOf(schema: Schema, { schemas, prefix, depth }: Place): Field[] {
  if (depth > MAX_DEPTH) return [];
  const alternatives = [schema, ...(schema.anyOf ?? [])].map((one) => resolve(one, schemas));
  const inner = alternatives.find(({ properties, items }) => properties ?? items);
  if (inner?.items)
    return fieldsOf(inner.items, { schemas, prefix: `${prefix}[]`, depth: depth + 1 });
  return Object.entries(inner?.properties ?? {}).flatMap(([name, field]) => {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    const isRequired = inner?.required?.includes(name) ?? false;
    const row = { name: path, type: typeOf(field, schemas), note: noteOf(field, isRequired) };
    return [row, ...fieldsOf(field, { schemas, prefix: path, depth: depth + 1 })];
  });
}

/** The name of an object, whose fields follow; any other type in full. */
function typeOf(schema: Schema, schemas: Schemas): string {
  const { type, format, enum: values, const: fixed, anyOf, items } = resolve(schema, schemas);
  if (fixed !== undefined) return JSON.stringify(fixed);
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(' | ');
  if (anyOf !== undefined)
    return [...new Set(anyOf.map((one) => typeOf(one, schemas)))].join(' | ');
  if (schema.$ref !== undefined) return nameIn(schema.$ref);
  if (items !== undefined) return `list of ${typeOf(items, schemas)}`;
  const name = Array.isArray(type) ? type.join(' | ') : (type ?? 'anything');
  return format === undefined ? name : `${name} (${format})`;
}

function noteOf(field: Schema, isRequired: boolean): string {
  const { description, default: standard, minimum, maximum, place } = field;
  const notes = [
    typeof place === 'string' ? `in the ${place}` : '',
    isRequired ? 'required' : '',
    minimum !== undefined && maximum !== undefined
      ? `${String(minimum)} to ${String(maximum)}`
      : '',
    standard === undefined ? '' : `default ${JSON.stringify(standard)}`,
    description ?? '',
  ];
  return notes.filter((note) => note !== '').join('; ');
}
