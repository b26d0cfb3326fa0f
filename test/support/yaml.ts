import assert from 'node:assert/strict';

export type Yaml = string | number | boolean | Yaml[] | { [key: string]: Yaml };

interface Line {
  depth: number;
  text: string;
}

/**
 * Reads the YAML that the documents use: maps and lists by indentation, scalars, and lists in the
 * form of JSON. Throws for tabs, a key given twice, odd indentation and everything else that it
 * does not know.
 */
export function readYaml(text: string): Yaml {
  const lines = text.split('\n').flatMap((line): Line[] => {
    assert.doesNotMatch(line, /\t/, 'YAML has no tabs');
    return /^\s*(#|$)/.test(line) ? [] : [{ depth: line.search(/\S/), text: line.trim() }];
  });
  const value = readBlock(lines);
  assert.deepEqual(lines, [], 'lines that belong to nothing');
  return value;
}

/** Takes the lines of one map or list off the front. */
function readBlock(lines: Line[]): Yaml {
  const depth = lines[0]?.depth ?? 0;
  return lines[0]?.text.startsWith('- ') ? readList(lines, depth) : readMap(lines, depth);
}

function readList(lines: Line[], depth: number): Yaml[] {
  const items: Yaml[] = [];
  while (lines[0]?.depth === depth) {
    const { text } = lines[0];
    assert.match(text, /^- \S/);
    // What follows the dash is the first line of the item.
    lines[0] = { depth: depth + 2, text: text.slice(2) };
    items.push(
      isEntry(lines[0].text) ? readMap(lines, depth + 2) : readScalar((lines.shift() as Line).text),
    );
  }
  return items;
}

function readMap(lines: Line[], depth: number): { [key: string]: Yaml } {
  const map: { [key: string]: Yaml } = {};
  while (lines[0]?.depth === depth && !lines[0].text.startsWith('- ')) {
    const { text } = lines.shift() as Line;
    const [, key = '', rest] =
      /^([A-Za-z][\w.-]*):(?: (.*))?$/.exec(text) ?? assert.fail(`not an entry: ${text}`);
    assert.ok(!Object.hasOwn(map, key), `${key} is given twice`);
    if (rest === undefined) assert.ok((lines[0]?.depth ?? -1) > depth, `${key} has no value`);
    map[key] = rest === undefined ? readBlock(lines) : readScalar(rest);
  }
  return map;
}

function isEntry(text: string): boolean {
  return /^[A-Za-z][\w.-]*:( |$)/.test(text);
}

function readScalar(text: string): Yaml {
  if (/^["[{]/.test(text)) return JSON.parse(text);
  assert.match(text, /^[\w./-]+$/, `a scalar that needs quotes: ${text}`);
  if (text === 'true' || text === 'false') return text === 'true';
  return /^\d+$/.test(text) ? Number(text) : text;
}
