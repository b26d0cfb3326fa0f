import type { KnownModels, Performance } from '../pages/responses.ts';
import { count } from '#text/sentences.ts';
import { type BuiltPages, escapeAttribute as escaped, PAGE_POLICY } from '../pages/built-pages.ts';
import type { Respond } from './respond.ts';
import { familyName } from '#domain/runs.ts';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { cannot, errorMessage, ServiceError } from '#domain/service-error.ts';
import { withTemporaryFolder } from '#database/storage/files.ts';

/** What is published, and how. */
export interface Publication {
  title: string;
  jobId: string | undefined;
  /** '' is the one without a name; undefined for all. */
  study?: string | undefined;
  /** Entries, with all their runs; empty means all. */
  models: readonly string[];
  startDate: string | undefined;
  endDate: string | undefined;
  /** Whether model-days have what the models read and said. */
  withConversations: boolean;
  /** Where the folder will be, ending in a slash: previews of links want whole URLs. */
  url: string;
  /** A Chromium that makes the PNG of the preview; undefined for none. */
  chromium: string | undefined;
}

/** The filters of a request that has these parameters of its own. */
export function siteFilters(
  { jobId, study, startDate, endDate, models }: Publication,
  own: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const named = own['model'] === undefined ? models.join(',') : '';
  return {
    ...omitEmpty({ job_id: jobId, start_date: startDate, end_date: endDate, models: named }),
    ...(study !== undefined && { study }),
  };
}

/** The models of a study; undefined where there are no studies. */
export function knownModels(respond: Respond, study: string | undefined): KnownModels {
  return JSON.parse(respond('/models', study === undefined ? {} : { study }));
}

/** Query values without the empty ones. */
export function omitEmpty(values: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value ? [[name, value]] : [])),
  );
}

/**
 * Whether some models or dates of jobs are left out, so that the pages of jobs would say too much.
 */
export function isPartial({ models, startDate, endDate }: Publication): boolean {
  return models.length > 0 || startDate !== undefined || endDate !== undefined;
}

/**
 * What is published of each study that has any of it, first of the one that the pages open; where
 * there are no studies, all. Throws a `ServiceError` for a choice that the service refuses or that
 * has no model-day, and for the name of a run: the page of a model shows all its runs.
 */
export function chooseStudies(respond: Respond, given: Publication): Publication[] {
  // As in requests, a name without `@` is of the study that is chosen.
  const inStudy = (name: string) =>
    name.includes('@') ? name : familyName(name, given.study || null);
  const publication = { ...given, models: given.models.map(inStudy) };
  const { detail, count } = findDays(respond, publication);
  const why = detail ?? (count === 0 && 'no model-day fits this choice');
  if (why) throw cannot('publish', why);
  const { studies, newest_study: newest } = knownModels(respond, undefined);
  const isOne = given.study !== undefined || studies.length === 0;
  const all = isOne ? [given.study] : new Set([newest ?? '', '', ...studies]);
  return [...all].flatMap((study) => {
    const { models: known } = knownModels(respond, study);
    for (const { signature, family } of known)
      if (signature !== family && publication.models.includes(signature))
        throw cannot('publish', `${signature} is a run of ${family}; name that, with all its runs`);
    const families = new Set(known.map(({ family }) => family));
    const models = publication.models.filter((name) => families.has(name));
    if (models.length === 0 && given.models.length > 0) return [];
    const own = { ...publication, study, models };
    return findDays(respond, own).count > 0 ? own : [];
  });
}

function findDays(respond: Respond, publication: Publication): { detail?: string; count: number } {
  return JSON.parse(respond('/decisions', { ...siteFilters(publication), limit: '1' }));
}

/** In pixels: what sites that show previews of links expect. */
const [WIDTH, HEIGHT] = [1200, 630];
const [LEFT, TOP, RIGHT, BOTTOM] = [60, 170, 840, 570];
/** More names would not be read. */
const MAX_NAMES = 11;
const NAME_HEIGHT = 36;
const [LONGEST_NAME, LONGEST_TITLE] = [20, 50];

/** A line of the picture: what a dollar has become by date, from 1 before the first. */
interface PreviewLine {
  name: string;
  colour: string;
  isDashed: boolean;
  growth: Map<string, number>;
}

/** The curves as a picture, beside the names and returns of the highest: for previews of links. */
function previewSvg(
  { title, words }: { title: string; words: string },
  lines: readonly PreviewLine[],
): string {
  const dates = [...new Set(lines.flatMap(({ growth }) => [...growth.keys()]))].sort();
  const values = [1, ...lines.flatMap(({ growth }) => [...growth.values()])].sort((a, b) => a - b);
  const [low = 1, high = 1] = [values[0], values.at(-1)];
  const x = (index: number) => LEFT + ((RIGHT - LEFT) * index) / dates.length;
  const y = (value: number) =>
    (BOTTOM - ((BOTTOM - TOP) * (value - low)) / (high - low || 1)).toFixed(1);
  const text = (place: string, words: string) => `<text ${place}>${words}</text>`;
  const lastGrowth = ({ growth }: PreviewLine) => [...growth.values()].at(-1) ?? 1;
  const drawn = lines
    .toSorted((one, other) => lastGrowth(other) - lastGrowth(one))
    .map((line, index) => {
      const { name, colour, isDashed, growth } = line;
      const points = dates.flatMap((date, day) => {
        const value = growth.get(date);
        return value === undefined ? [] : `${x(day + 1).toFixed(1)},${y(value)}`;
      });
      const made = lastGrowth(line) - 1;
      const percent = `${made < 0 ? '−' : '+'}${Math.abs(made * 100).toFixed(2)} %`;
      const place = `x="${RIGHT + 14}" y="${TOP + NAME_HEIGHT * index}" font-size="22" fill="${colour}"`;
      const own = `${escaped(truncate(name, LONGEST_NAME))} <tspan font-weight="600">${percent}</tspan>`;
      const look = `fill="none" stroke="${colour}" stroke-width="3"${isDashed ? ' stroke-dasharray="8 6"' : ''}`;
      const curve = `<polyline points="${[`${LEFT},${y(1)}`, ...points].join(' ')}" ${look}/>`;
      return index < MAX_NAMES ? curve + text(place, own) : curve;
    });
  const box = `width="${WIDTH}" height="${HEIGHT}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${box} font-family="system-ui, sans-serif">
<rect ${box} fill="#fff"/>
${text(`x="${LEFT}" y="80" font-size="40" font-weight="650"`, escaped(truncate(title, LONGEST_TITLE)))}
${text(`x="${LEFT}" y="122" font-size="24" fill="#58636c"`, escaped(words))}
<path d="M${LEFT} ${y(1)}H${RIGHT}" stroke="#b9c2c8"/>
${drawn.join('\n')}
</svg>
`;
}

function truncate(text: string, most: number): string {
  const characters = [...text];
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
}

const CHROMIUM_MS = 60_000;

/**
 * The picture as PNG, drawn by a Chromium in a folder of its own. Throws a `ServiceError`
 * (`cannot_start`) if that makes none.
 */
function renderPng(svg: string, chromium: string): Promise<Buffer> {
  return withTemporaryFolder(async (folder) => {
    const [from, to] = [join(folder, 'preview.svg'), join(folder, 'preview.png')];
    const args = [
      '--headless',
      '--disable-gpu',
      '--hide-scrollbars',
      '--force-device-scale-factor=1',
    ];
    // Chromium refuses its sandbox to root; the picture is our own.
    if (process.getuid?.() === 0) args.push('--no-sandbox');
    args.push(`--user-data-dir=${join(folder, 'profile')}`, `--window-size=${WIDTH},${HEIGHT}`);
    args.push(`--screenshot=${to}`, pathToFileURL(from).href);
    const { PATH, HOME } = process.env; // and no key
    const options = { timeout: CHROMIUM_MS, env: { PATH, HOME } };
    try {
      writeFileSync(from, svg);
      await promisify(execFile)(chromium, args, options);
      return readFileSync(to);
    } catch (error) {
      const [why] = errorMessage(error).split('\n');
      throw new ServiceError('cannot_start', `--chromium: ${chromium} made no picture: ${why}`);
    }
  });
}

/**
 * The program of the pages, their one HTML file, and the picture for previews of links, by name.
 */
export async function buildSite(
  respond: Respond,
  publication: Publication,
  { pages, isDev }: { pages: BuiltPages; isDev: boolean },
): Promise<Map<string, Buffer | string>> {
  const { title, chromium } = publication;
  const { brotliDecompressSync } = process.getBuiltinModule('node:zlib');
  const files = new Map<string, Buffer | string>();
  for (const [name, base64] of Object.entries(pages))
    files.set(name, brotliDecompressSync(Buffer.from(base64, 'base64')));
  const choice = { ...siteFilters(publication), by: 'entry', common: 'true' };
  const performance: Performance = JSON.parse(respond('/performance', choice));
  const words = `${describeSpan(performance)}${isDev ? ' Simulated models.' : ''}`;
  const { models } = knownModels(respond, publication.study);
  const lines = previewLines(performance, models, readColours(String(files.get('app.css'))));
  const svg = previewSvg({ title, words }, lines);
  files.set('preview.svg', svg);
  if (chromium !== undefined) files.set('preview.png', await renderPng(svg, chromium));
  files.set(
    'index.html',
    buildHtml(String(files.get('index.html')), publication, { words, isDev }),
  );
  return files.set('.nojekyll', ''); // else GitHub's pages leave out names that begin with _
}

/** The HTML file of the served pages as that of a site which may be anywhere. */
function buildHtml(
  html: string,
  publication: Publication,
  { words, isDev }: { words: string; isDev: boolean },
): string {
  const { title, url, chromium } = publication;
  const property = (name: string, content: string) =>
    `<meta property="og:${name}" content="${escaped(content)}" />`;
  // A file cannot say who may frame it.
  const policy = PAGE_POLICY.filter((rule) => !rule.startsWith('frame-ancestors')).join('; ');
  const head = [
    `<title>${escaped(title)}</title>`,
    `<meta http-equiv="Content-Security-Policy" content="${policy}" />`,
    property('title', title),
    property('description', words),
    property('type', 'website'),
    property('image', url + (chromium === undefined ? 'preview.svg' : 'preview.png')),
    ...(url === '' ? [] : [property('url', url)]),
  ];
  const marks = [
    ...(isDev ? ['data-dev="kept"'] : []),
    `data-view="${escaped(title)}"`,
    `data-fixed data-published="${isPartial(publication) ? 'without-jobs' : ''}"`,
  ];
  const noScript = 'These pages need JavaScript. What they show is in data/, as compressed JSON.';
  return html
    .replaceAll(/(href|src)="\//g, '$1="')
    .replace(/<title>.*?<\/title>/, () => head.join('\n    '))
    .replace('<body>', () => `<body ${marks.join(' ')}>`)
    .replace(/<noscript>.*?<\/noscript>/s, () => `<noscript>${noScript}</noscript>`);
}

/** The colours of the curves in light windows: of the entries in their order, of the benchmark. */
function readColours(css: string) {
  const colour = (name: string) =>
    new RegExp(`\\.${name}\\b[^{]*\\{\\s*color:\\s*light-dark\\((#\\w+)`).exec(css)?.[1];
  const series: string[] = [];
  for (let own = colour('series-0'); own !== undefined; own = colour(`series-${series.length}`))
    series.push(own);
  return { series, benchmark: colour('benchmark') ?? '' };
}

/** "6 models over 60 days, from 2025-09-01 to 2025-11-21." */
function describeSpan({ families, common }: Performance): string {
  const { days = 0, start_date: from, end_date: to } = common ?? {};
  const span = from == null || to == null ? '' : `, from ${from} to ${to}`;
  return `${count(families.length, 'model')} over ${count(days, 'day')}${span}.`;
}

/** The curves of the overview, in its colours. */
function previewLines(
  { families, models, benchmark }: Performance,
  known: KnownModels['models'],
  colours: ReturnType<typeof readColours>,
): PreviewLine[] {
  const orders = new Map(known.map(({ family, order }) => [family, order ?? 0]));
  const growthByDate = (curve: readonly { date: string; growth: number }[] = []) =>
    new Map(curve.map(({ date, growth }) => [date, growth]));
  const own = families.map(({ family, runs, curve }): PreviewLine => {
    const single = models.find(({ model }) => model === runs[0]?.model)?.curve;
    const order = orders.get(family) ?? 0;
    const colour = colours.series[order % colours.series.length] ?? colours.benchmark;
    return { name: family, colour, isDashed: false, growth: growthByDate(curve ?? single) };
  });
  let value = 1;
  const growth = new Map(
    benchmark.curve.map(({ date, daily_return: change }) => [date, (value *= 1 + change)]),
  );
  const name = `${benchmark.name} (benchmark)`;
  return [...own, { name, colour: colours.benchmark, isDashed: true, growth }];
}
