import type * as v from 'valibot';
import type { modelsResponse } from '../api/models.ts';
import type { performanceResponse } from '../api/performance-response.ts';
import { count } from '../basics/sentences.ts';
import { type BuiltPages, escapeAttribute as escaped, PAGE_POLICY } from '../http/pages.ts';
import type { Respond } from '../http/respond.ts';
import { type PreviewLine, pngOf, previewSvg } from './preview.ts';
import { choiceOf, isPart, type Publication } from './publication.ts';

type Performance = v.InferOutput<typeof performanceResponse>;
type Models = v.InferOutput<typeof modelsResponse>;

/** The program of the pages, their one HTML file, and the picture for previews of links, by name. */
export async function siteOf(
  respond: Respond,
  publication: Publication,
  { pages, isDev }: { pages: BuiltPages; isDev: boolean },
): Promise<Map<string, Buffer | string>> {
  const { title, chromium } = publication;
  const { brotliDecompressSync } = process.getBuiltinModule('node:zlib');
  const files = new Map<string, Buffer | string>();
  for (const [name, base64] of Object.entries(pages))
    files.set(name, brotliDecompressSync(Buffer.from(base64, 'base64')));
  const choice = { ...choiceOf(publication), by: 'entry', common: 'true' };
  const performance: Performance = JSON.parse(respond('/performance', choice));
  const words = `${spanInWords(performance)}${isDev ? ' Simulated models.' : ''}`;
  const { models }: Models = JSON.parse(respond('/models'));
  const lines = previewLines(performance, models, coloursIn(String(files.get('app.css'))));
  const svg = previewSvg({ title, words }, lines);
  files.set('preview.svg', svg);
  if (chromium !== undefined) files.set('preview.png', await pngOf(svg, chromium));
  files.set('index.html', htmlOf(String(files.get('index.html')), publication, { words, isDev }));
  return files.set('.nojekyll', ''); // else GitHub's pages leave out names that begin with _
}

/** The HTML file of the served pages as that of a site which may be anywhere. */
function htmlOf(
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
    `data-fixed data-published="${isPart(publication) ? 'without-jobs' : ''}"`,
  ];
  const noScript = 'These pages need JavaScript. What they show is in data/, as compressed JSON.';
  return html
    .replaceAll(/(href|src)="\//g, '$1="')
    .replace(/<title>.*?<\/title>/, () => head.join('\n    '))
    .replace('<body>', () => `<body ${marks.join(' ')}>`)
    .replace(/<noscript>.*?<\/noscript>/s, () => `<noscript>${noScript}</noscript>`);
}

interface Colours {
  /** In the order of the entries. */
  series: string[];
  benchmark: string;
}

/** The colours of the curves in light windows. */
export function coloursIn(css: string): Colours {
  const colour = (name: string) =>
    new RegExp(`\\.${name}\\b[^{]*\\{\\s*color:\\s*light-dark\\((#\\w+)`).exec(css)?.[1];
  const series: string[] = [];
  for (let own = colour('series-0'); own !== undefined; own = colour(`series-${series.length}`))
    series.push(own);
  return { series, benchmark: colour('benchmark') ?? '' };
}

/** "6 models over 60 days, from 2025-09-01 to 2025-11-21." */
function spanInWords({ families, common }: Performance): string {
  const { days = 0, start_date: from, end_date: to } = common ?? {};
  const span = from == null || to == null ? '' : `, from ${from} to ${to}`;
  return `${count(families.length, 'model')} over ${count(days, 'day')}${span}.`;
}

/** The curves of the overview, in its colours. */
function previewLines(
  { families, models, benchmark }: Performance,
  known: Models['models'],
  colours: Colours,
): PreviewLine[] {
  const orders = new Map(known.map(({ family, order }) => [family, order ?? 0]));
  const growthOf = (curve: readonly { date: string; growth: number }[] = []) =>
    new Map(curve.map(({ date, growth }) => [date, growth]));
  const own = families.map(({ family, runs, curve }): PreviewLine => {
    const single = models.find(({ model }) => model === runs[0]?.model)?.curve;
    const order = orders.get(family) ?? 0;
    const colour = colours.series[order % colours.series.length] ?? colours.benchmark;
    return { name: family, colour, isDashed: false, growth: growthOf(curve ?? single) };
  });
  let value = 1;
  const passive = benchmark.curve.map(({ date, daily_return: change }) => {
    return { date, growth: (value *= 1 + change) };
  });
  const name = `${benchmark.name} (benchmark)`;
  const growth = growthOf(passive);
  return [...own, { name, colour: colours.benchmark, isDashed: true, growth }];
}
