import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

/** The house rules, as far as a machine can hold them. */

const ROOT = new URL('..', import.meta.url).pathname;
const MAX_FILE_LINES = 400;
const MAX_FUNCTION_LINES = 70;
const MAX_LINE_LENGTH = 140;

function filesIn(folder: string): string[] {
  const entries = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  return entries.filter((name) => name.endsWith('.ts')).map((name) => join(folder, name));
}

const sources = filesIn('src').sort();
const everything = [...sources, ...filesIn('test'), ...filesIn('lab'), ...filesIn('bench')];
const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/**
 * The order of the layers, features above the core: a file imports only from its own folder or from
 * further down. What lies beside the folders of core and features imports both.
 */
const BROWSER = 'features/pages/browser';
const floors = [
  ...[`${BROWSER}/app.ts`, `${BROWSER}/pages/`, `${BROWSER}/plot/`, `${BROWSER}/`],
  ...['main.ts', 'commands.ts', 'routes.ts'],
  ...[
    'features/mcp/',
    'features/demo/',
    'features/openapi/',
    'features/view/',
    'features/publish/',
  ],
  ...['features/pages/', 'features/export/', 'features/document-files/', 'features/coverage/'],
  ...['features/decisions/', 'features/control-markets/', 'features/backup/'],
  ...['features/comparison/route.ts', 'features/performance/route.ts'],
  ...['features/performance/filters.ts', 'features/experiments/', 'features/comparison/'],
  ...['features/performance/', 'features/style/', 'features/price-files/', 'features/statistics/'],
  ...['core/commands/', 'core/service.ts', 'core/http/', 'core/api/', 'core/jobs/'],
  ...['core/children/', 'core/prices/', 'core/database/records/', 'core/verify/', 'core/trading/'],
  ...['core/agent/', 'core/agent/provider/', 'core/agent/players/', 'core/agent/model.ts'],
  ...['core/wire/', 'core/database/', 'core/database/schema/', 'core/money/'],
  ...['core/database/storage/', 'core/settings/', 'core/json/', 'core/network/'],
  ...['core/process/', 'core/time/', 'core/text/', 'core/domain/'],
];

/** The layer of a file of src/; of a folder within a folder, the inner one's. */
function floorOf(path: string): number {
  const inside = path.slice('src/'.length);
  const places = floors.filter((place) =>
    place.endsWith('/') ? inside.startsWith(place) : inside === place,
  );
  return floors.indexOf(places.sort((one, other) => other.length - one.length)[0] ?? '');
}

test('every file of src/ is in a layer', () => {
  assert.ok(floors.length > 10);
  const homeless = sources.filter((path) => floorOf(path) === -1);
  assert.deepEqual(homeless, []);
  const empty = floors.filter((_, floor) => !sources.some((path) => floorOf(path) === floor));
  assert.deepEqual(empty, []);
});

test('core imports no feature; only what lies beside both imports both', () => {
  const wrong = sources.flatMap((path) => {
    if (!path.startsWith('src/core/')) return [];
    const features = importsOf(path).filter((target) => !target.startsWith('src/core/'));
    return features.map((target) => `${path} imports ${target}`);
  });
  assert.deepEqual(wrong, []);
  const beside = readdirSync(join(ROOT, 'src')).filter((name) => name.endsWith('.ts'));
  assert.deepEqual(beside.sort(), ['commands.ts', 'main.ts', 'routes.ts']);
});

test('within the core and within a feature no two files have one name, and each feature says what it is for', () => {
  const parts = Map.groupBy(sources, (path) => /^src\/(core|features\/[^/]+)\//.exec(path)?.[1]);
  const twice = [...parts].flatMap(([part, paths]) => {
    const byName = Map.groupBy(paths, (path) => path.split('/').at(-1));
    return [...byName].flatMap(([name, same]) => (same.length > 1 ? [`${part}: ${name}`] : []));
  });
  assert.deepEqual(twice, []);
  const silent = [...parts].flatMap(([part = 'src', paths]) => {
    const saying = paths.filter((path) => /^\/\*\* Feature: /m.test(textOf(path)));
    return part.startsWith('features/') === (saying.length === 1) ? [] : [part];
  });
  assert.deepEqual(silent, []);
});

test('an exported name exists once in the server, and once in the pages', () => {
  const names = (paths: readonly string[]) =>
    paths.flatMap((path) =>
      [
        ...textOf(path).matchAll(
          /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|const|class|interface|type) (\w+)/gm,
        ),
      ].map(([, name = '']) => name),
    );
  const isBrowser = (path: string) => path.startsWith(`src/${BROWSER}/`);
  for (const side of [sources.filter(isBrowser), sources.filter((path) => !isBrowser(path))]) {
    const all = Map.groupBy(names(side), (name) => name);
    assert.deepEqual(
      [...all].flatMap(([name, uses]) => (uses.length > 1 ? [name] : [])),
      [],
    );
  }
});

/** The files of this project that a file imports, even if only for their types. */
function importsOf(path: string): string[] {
  const targets = [...textOf(path).matchAll(/(?:from|import)\(? ?'((?:\.{1,2}\/|#)[^']+\.ts)'/g)];
  return targets.map(([, target = '']) => resolveModule(path, target));
}

/** A module's path from the root; `#` is the core. Packages and Node's modules stay as they are. */
function resolveModule(path: string, module: string): string {
  if (module.startsWith('#')) return `src/core/${module.slice(1)}`;
  return module.startsWith('.') ? join(path, '..', module) : module;
}

test('an import from another folder of the core begins with #, so that files can move', () => {
  const wrong = sources.flatMap((path) => {
    if (!/^src\/(core|features)\//.test(path)) return [];
    const targets = [...textOf(path).matchAll(/(?:from|import)\(? ?'(\.[^']+\.ts)'/g)];
    return targets.flatMap(([, target = '']) => {
      const found = resolveModule(path, target);
      const isOther = found.startsWith('src/core/') && dirname(found) !== dirname(path);
      return isOther ? [`${path} imports ${target}`] : [];
    });
  });
  assert.deepEqual(wrong, []);
});

test('imports point to lower layers, or stay in their folder', () => {
  const upwards = sources.flatMap((path) => {
    const wrong = importsOf(path).filter((target) => floorOf(target) < floorOf(path));
    return wrong.map((target) => `${path} imports ${target}`);
  });
  assert.deepEqual(upwards, []);
});

test('no circular imports, not even of a type', () => {
  assert.deepEqual(circlesIn(sources, importsOf), []);
  const circle: Record<string, string[]> = { a: ['b'], b: ['c', 'd'], c: [], d: ['b'] };
  const circles = circlesIn(Object.keys(circle), (path) => circle[path] ?? []);
  assert.deepEqual(circles, ['b → d → b']);
});

/** Each circle once, from the first of its files that is reached. */
function circlesIn(paths: readonly string[], next: (path: string) => string[]): string[] {
  const circles: string[] = [];
  const visited = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path))
      return void circles.push([...trail.slice(trail.indexOf(path)), path].join(' → '));
    if (visited.has(path)) return;
    for (const target of next(path)) visit(target, [...trail, path]);
    visited.add(path);
  };
  for (const path of paths) visit(path, []);
  return circles;
}

/** The modules that a file names, of others and, with their path from the root, of this project. */
const modulesOf = (path: string) =>
  [...textOf(path).matchAll(/from '([^']+)'/g)].map(([, module = '']) =>
    resolveModule(path, module),
  );

test('nothing is imported at run time but Node, two libraries and our own files', () => {
  const libraries = ['eventsource-parser', 'valibot'];
  const foreign = sources.flatMap((path) =>
    modulesOf(path)
      .filter((module) => !/^(node:|src\/)/.test(module) && !libraries.includes(module))
      .map((module) => `${path} imports ${module}`),
  );
  assert.deepEqual(
    foreign,
    ['src/core/trading/tool-parameters.ts', 'src/features/openapi/openapi.ts'].map(
      (path) => `${path} imports @valibot/to-json-schema`,
    ),
    'what they make is made at build time; the plot library is bundled into the pages',
  );
  const { dependencies } = JSON.parse(textOf('package.json'));
  assert.equal(dependencies, undefined, 'the program contains both, so its package needs neither');
});

/** Where SQL may be: the core's room of it, and a feature's queries; a backup checks its copy. */
const holdsSql = (path: string) =>
  /^src\/(core\/database\/|features\/[^/]+\/([^/]+-)?queries\.ts$|features\/backup\/backup\.ts$)/.test(
    path,
  );

/** What opens files, or a file of the database, by other means than SQLite. */
const OPENS_FILES = /\b(openSync|open|readFileSync|readFile|createReadStream|copyFileSync)\(/;
const OPENS_DATABASE = /\b(assertUsable|isWrittenWithLog|inspectFile|withSnapshot|fileAddress)\b/;
/** The folders of a process that serves requests; of the others, only commands run the code. */
const SERVING =
  /^src\/(core\/(service\.ts|(http|api|jobs|children|trading)\/)|features\/(view|performance|comparison|decisions)\/)/;

test('in a serving process only SQLite opens the database: closing another descriptor drops its locks', () => {
  const having = (pattern: RegExp, paths: readonly string[]) =>
    paths.filter((path) => pattern.test(textOf(path).replaceAll(/^\s*(\/?\*|\/\/).*$/gm, '')));
  const inDatabase = sources.filter(holdsSql);
  assert.deepEqual(having(OPENS_FILES, inDatabase), [
    'src/core/database/integrity.ts', // the pipes of a process of its own
    'src/core/database/storage/files.ts', // isWrittenWithLog
    'src/core/database/storage/new-file.ts', // copies, folders
    'src/core/database/storage/owner.ts', // the note
    'src/features/backup/backup.ts', // a command
  ]);
  assert.deepEqual(having(OPENS_DATABASE, inDatabase), [
    'src/core/database/database.ts', // before its connection
    'src/core/database/snapshot.ts', // before the first connection of a view, and for commands
    'src/core/database/storage/files.ts',
    'src/core/database/storage/owner.ts', // before the service opens the database
    'src/features/backup/backup.ts', // a command
  ]);
  assert.deepEqual(
    having(
      OPENS_DATABASE,
      sources.filter((path) => SERVING.test(path)),
    ),
    [
      'src/features/view/open-view.ts', // before its first connection
    ],
  );
});

test('the agent that runs in the child imports nothing of the parent', () => {
  const allowed =
    /^node:|^(valibot|eventsource-parser)$|^src\/(core\/(agent\/|wire\/|domain\/(vocabulary|service-error|symbols|market-rules)\.ts|network\/http-client\.ts|time\/event-loop\.ts|json\/json\.ts|text\/(secrets|sentences|text|hash)\.ts))/;
  const modules = filesIn('src/core/agent').flatMap(modulesOf);
  const wrong = modules.filter((module) => !allowed.test(module));
  assert.deepEqual(wrong, []);
});

test('in the pages foreign text stays text: nothing parses markup, sets an inline style, or loads from elsewhere', () => {
  const dangerous =
    /innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser|srcdoc|setAttribute\('style|\beval\(|new Function|https?:\/\//;
  const found = filesIn(`src/${BROWSER}`).flatMap((path) =>
    textOf(path)
      .split('\n')
      .flatMap((line) => (dangerous.test(line) ? [`${path}: ${line.trim()}`] : [])),
  );
  assert.deepEqual(found, [
    'src/features/pages/browser/element.ts: const FORBIDDEN = /^(on|style$|srcdoc$|src$|action$|formaction$)/i;',
    "src/features/pages/browser/element.ts: const SVG = 'http://www.w3.org/2000/svg';",
  ]);
});

/**
 * What the pages might use, with the first version of each browser that has it. The build
 * translates syntax, but none of these.
 */
const NEVER = 999;
const browserFeatures: [string, use: RegExp, chrome: number, firefox: number, safari: number][] = [
  ['Navigation', /\bnavigation\./, 102, 147, 26.2],
  ['getOrInsert', /\.getOrInsert/, 145, 144, 26.2],
  ['requestIdleCallback', /requestIdleCallback/, 47, 55, NEVER],
  ['Temporal', /\bTemporal\./, 144, 139, NEVER],
  ['scheduler.yield', /\bscheduler\./, 129, 142, NEVER],
  ['showSaveFilePicker', /show(Save|Open)FilePicker/, 86, NEVER, NEVER],
  ['animations by scrolling', /(animation|scroll|view)-timeline/, 115, NEVER, 26],
  ['states of scrolling', /scroll-state\(/, 133, NEVER, NEVER],
  ['interpolate-size', /interpolate-size/, 129, NEVER, NEVER],
  ['if() in styles', /: if\(/, 137, NEVER, NEVER],
];

test('the pages use nothing that a browser of the build’s target does not have', () => {
  const [, list = ''] = /target: \['(chrome[^\]]*)'\]/.exec(textOf('build.mjs')) ?? [];
  const target = Object.fromEntries(
    list.split("', '").map((one) => [one.replace(/[\d.]/g, ''), Number(one.replace(/^\D+/, ''))]),
  );
  assert.deepEqual(Object.keys(target), ['chrome', 'edge', 'firefox', 'safari']);
  assert.equal(target['edge'], target['chrome'], 'they have the same features');
  const files = [
    ...filesIn(`src/${BROWSER}`),
    'src/features/pages/browser/app.css',
    ...[
      'json/json',
      'text/text',
      'text/hash',
      'text/sentences',
      'text/csv',
      'http/path-pattern',
    ].map((name) => `src/core/${name}.ts`),
    'src/features/pages/paths.ts',
    'src/features/performance/labels.ts',
  ];
  const tooNew = browserFeatures.filter(([, , ...since]) =>
    ['chrome', 'firefox', 'safari'].some(
      (name, index) => (since[index] ?? 0) > (target[name] ?? 0),
    ),
  );
  const found = files.flatMap((path) => {
    const text = textOf(path);
    return tooNew.flatMap(([name, use]) => (use.test(text) ? [`${path}: ${name}`] : []));
  });
  assert.deepEqual(found, []);
});

test('no call in the pages spreads the numbers of a series into arguments: a browser takes some ten thousand', () => {
  const found = filesIn(`src/${BROWSER}`).filter((path) =>
    /Math\.\w+\([^)\n]*\.\.\.|\.(push|unshift|fromCharCode)\(\.\.\./.test(textOf(path)),
  );
  assert.deepEqual(found, []);
});

test('the browser shares with the server only paths, names of published files, printable text, names of runs and of metrics, sentences, JSON, lines of CSV, and the types of responses', () => {
  const allowed =
    /^src\/(features\/(pages\/(browser\/|paths\.ts)|publish\/published\.ts|performance\/labels\.ts)|core\/(text\/(text|sentences|csv)|domain\/runs|json\/json)\.ts$)/;
  const responses = 'src/features/pages/responses.ts';
  const shared = filesIn(`src/${BROWSER}`).flatMap((path) =>
    importsOf(path)
      .filter((target) => !allowed.test(target) && target !== responses)
      .map((target) => `${path} imports ${target}`),
  );
  assert.deepEqual(shared, []);
  assert.doesNotMatch(textOf(responses), /^import (?!type )/m);
});

test(`files have at most ${MAX_FILE_LINES} lines, functions at most ${MAX_FUNCTION_LINES}, lines at most ${MAX_LINE_LENGTH} characters`, () => {
  const tooLong = sources.flatMap((path) => {
    const lines = textOf(path).trimEnd().split('\n');
    const wide = lines.flatMap((line, index) =>
      line.length > MAX_LINE_LENGTH ? [`${path}:${index + 1} is wide`] : [],
    );
    const long = lines.length > MAX_FILE_LINES ? [`${path} has ${lines.length} lines`] : [];
    return [...long, ...longFunctions(path, lines), ...wide];
  });
  assert.deepEqual(tooLong, []);
});

/**
 * Top-level functions run from their first line to the next line that is only a closing bracket.
 */
function longFunctions(path: string, lines: readonly string[]): string[] {
  return lines.flatMap((line, start) => {
    if (!/^(export )?(async )?function/.test(line)) return [];
    const length = lines.slice(start).findIndex((later) => /^[})]/.test(later)) + 1;
    return length > MAX_FUNCTION_LINES ? [`${path}:${start + 1} has ${length} lines`] : [];
  });
}

test('the subject of a commit has at most 72 characters', (t) => {
  if (!existsSync(join(ROOT, '.git'))) return t.skip('not a clone');
  const newest = execFileSync('git', ['log', '-20', '--format=%s'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  assert.deepEqual(
    newest.split('\n').filter(({ length }) => length > 72),
    [],
  );
});

test('no TODO or skipped test without a reason, no escape from the types in src/', () => {
  const isEscape = (path: string, line: string) =>
    /\b(TODO|FIXME)\b(?!: \w)/.test(line) ||
    /\.(only|todo)\(|test\.skip\(/.test(line) ||
    (path.startsWith('src/') &&
      /^(?! *(\*|\/[/*])).*\bas (any|unknown as)\b|@ts-(ignore|nocheck)/.test(line));
  const escapes = everything.flatMap((path) => {
    const lines = path === 'test/tidy.test.ts' ? [] : textOf(path).split('\n');
    return lines.filter((line) => isEscape(path, line)).map((line) => `${path}: ${line.trim()}`);
  });
  assert.deepEqual(escapes, []);
});

test('Linux features are not taken for granted: src/ reads no /proc unguarded, and tests that do are skipped by name', () => {
  const wrong = everything.filter((path) => {
    const text = textOf(path);
    if (path.startsWith('src/'))
      return /['"`]\/(proc|sys)\//.test(text) && !/existsSync|try \{/.test(text);
    const looks = /\/proc\/|support\/(processes|disk)\.ts'|torture\.ts'/.test(text);
    return path.endsWith('.test.ts') && looks && !/skip: (noProc|noDisk|noLimits)/.test(text);
  });
  const others = wrong.filter((path) => path !== 'test/tidy.test.ts');
  assert.deepEqual(others, []);
});

test('SQL is only in src/core/database/ and in the queries of a feature', () => {
  const sql = /\b(SELECT|INSERT INTO|UPDATE \w+ SET|DELETE FROM)\b/;
  const wrong = sources.filter((path) => !holdsSql(path) && sql.test(textOf(path)));
  assert.deepEqual(wrong, []);
});

test('no module of the service creates an Intl format when it loads: the first of a process takes 15 ms', () => {
  const eager = sources.filter(
    (path) =>
      !path.startsWith(`src/${BROWSER}/`) && /^(?:export )?const .*new Intl\./m.test(textOf(path)),
  );
  assert.deepEqual(eager, []);
});
