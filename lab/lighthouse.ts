import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromiumPath, noBrowser } from '../test/support/chromium.ts';
import { fillWithTrackRecords, modelNames, recordDates } from '../test/support/track-records.ts';
import { median } from '../bench/paired.ts';
import { PROGRAM, benchFolder, startServer } from '../bench/support.ts';

/**
 * Audits the pages of the built program with Lighthouse, which npx fetches: `npm run lighthouse`,
 * or `npm run lighthouse -- 3` for the medians of three runs. Exits with 1 when a score is below
 * its aim.
 */
const LIGHTHOUSE = 'lighthouse@13.5.0';
const DAYS = 60;
const MODELS = 6;
const aims = { performance: 95, accessibility: 100, 'best-practices': 100 };
type Category = keyof typeof aims;
const categories = Object.keys(aims) as Category[];

interface Report {
  categories: Record<Category, { score: number; auditRefs: { id: string; weight: number }[] }>;
  audits: Record<string, { title: string; score: number | null; displayValue?: string }>;
}

if (noBrowser) throw new Error(`Cannot audit the pages: ${noBrowser}`);
const runs = Number(process.argv[2] ?? 1);
const folder = benchFolder();
fillWithTrackRecords(join(folder, 'data/jobs_dev.db'), {
  models: modelNames(MODELS),
  days: DAYS,
  failures: 0.02,
});
const server = await startServer(PROGRAM, { folder });
const day = recordDates(DAYS).at(-1) as string;
const pages: [name: string, path: string][] = [
  ['overview', '/'],
  ['model', '/models/model-1'],
  ['model-day', `/model-days/model-1/${day}`],
  ['compare', '/compare'],
];
let isMet = true;
console.log(`${LIGHTHOUSE}, ${MODELS} models × ${DAYS} days, medians of ${runs} runs\n`);
for (const form of ['desktop', 'phone'] as const)
  for (const [name, path] of pages) {
    const reports = Array.from({ length: runs }, () => audit(server.url + path, form));
    const scores = categories.map((category) =>
      median(reports.map((report) => Math.round(report.categories[category].score * 100))),
    );
    isMet &&= scores.every((score, index) => score >= aims[categories[index] as Category]);
    console.log(
      `${name}, ${form}: ${categories.map((category, index) => `${category} ${scores[index]}`).join(', ')}`,
    );
    for (const line of shortcomings(reports.at(-1) as Report)) console.log(`  ${line}`);
  }
await server.stop();
process.exitCode = isMet ? 0 : 1;

/**
 * Runs Lighthouse in a browser of its own; on a phone it simulates a slow network and processor.
 */
function audit(url: string, form: 'desktop' | 'phone'): Report {
  const output = join(folder, 'report.json');
  const chromeFlags =
    '--headless=new --no-sandbox --disable-gpu --disable-quic --disable-background-networking --disable-component-update';
  execFileSync(
    'npx',
    [
      ...[
        '--yes',
        LIGHTHOUSE,
        url,
        '--quiet',
        '--output=json',
        `--output-path=${output}`,
        '--no-enable-error-reporting',
      ],
      ...[`--only-categories=${categories.join(',')}`, `--chrome-flags=${chromeFlags}`],
      ...(form === 'desktop' ? ['--preset=desktop'] : []),
    ],
    {
      env: { ...process.env, CHROME_PATH: chromiumPath, npm_config_loglevel: 'error' },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  return JSON.parse(readFileSync(output, 'utf8')) as Report;
}

/** What cost a category some of its score, and the times on which the first one rests. */
function shortcomings({ categories: found, audits }: Report): string[] {
  return categories.flatMap((category) =>
    found[category].auditRefs.flatMap(({ id, weight }) => {
      const { title, score, displayValue } = audits[id] as Report['audits'][string];
      const isShort = weight > 0 && score !== null && score < 1;
      return isShort
        ? [
            `${category} ${Math.round(score * 100)}: ${title}${displayValue === undefined ? '' : `, ${displayValue}`}`,
          ]
        : [];
    }),
  );
}
