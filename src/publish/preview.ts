import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { messageOf, ServiceError } from '../basics/domain.ts';
import { inTemporaryFolder } from '../database/storage/files.ts';
import { escapeAttribute as escaped } from '../http/pages.ts';

/** In pixels: what sites that show previews of links expect. */
const [WIDTH, HEIGHT] = [1200, 630];
const [LEFT, TOP, RIGHT, BOTTOM] = [60, 170, 840, 570];
/** More names would not be read. */
const MOST_NAMES = 11;
const NAME_HEIGHT = 36;
const [LONGEST_NAME, LONGEST_TITLE] = [20, 50];

/** A line of the picture: what a dollar has become by date, from 1 before the first. */
export interface PreviewLine {
  name: string;
  colour: string;
  isDashed: boolean;
  growth: Map<string, number>;
}

/** The curves as a picture, beside the names and returns of the highest: for previews of links. */
export function previewSvg(
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
  const lastOf = ({ growth }: PreviewLine) => [...growth.values()].at(-1) ?? 1;
  const drawn = lines
    .toSorted((one, other) => lastOf(other) - lastOf(one))
    .map((line, index) => {
      const { name, colour, isDashed, growth } = line;
      const points = dates.flatMap((date, day) => {
        const value = growth.get(date);
        return value === undefined ? [] : `${x(day + 1).toFixed(1)},${y(value)}`;
      });
      const made = lastOf(line) - 1;
      const percent = `${made < 0 ? '−' : '+'}${Math.abs(made * 100).toFixed(2)} %`;
      const place = `x="${RIGHT + 14}" y="${TOP + NAME_HEIGHT * index}" font-size="22" fill="${colour}"`;
      const own = `${escaped(cut(name, LONGEST_NAME))} <tspan font-weight="600">${percent}</tspan>`;
      const look = `fill="none" stroke="${colour}" stroke-width="3"${isDashed ? ' stroke-dasharray="8 6"' : ''}`;
      const curve = `<polyline points="${[`${LEFT},${y(1)}`, ...points].join(' ')}" ${look}/>`;
      return index < MOST_NAMES ? curve + text(place, own) : curve;
    });
  const box = `width="${WIDTH}" height="${HEIGHT}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${box} font-family="system-ui, sans-serif">
<rect ${box} fill="#fff"/>
${text(`x="${LEFT}" y="80" font-size="40" font-weight="650"`, escaped(cut(title, LONGEST_TITLE)))}
${text(`x="${LEFT}" y="122" font-size="24" fill="#58636c"`, escaped(words))}
<path d="M${LEFT} ${y(1)}H${RIGHT}" stroke="#b9c2c8"/>
${drawn.join('\n')}
</svg>
`;
}

function cut(text: string, most: number): string {
  const characters = [...text];
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
}

const CHROMIUM_MS = 60_000;

/**
 * The picture as PNG, drawn by a Chromium in a folder of its own. Throws a `ServiceError`
 * (`cannot_start`) if that makes none.
 */
export function pngOf(svg: string, chromium: string): Promise<Buffer> {
  return inTemporaryFolder(async (folder) => {
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
      const [why] = messageOf(error).split('\n');
      throw new ServiceError('cannot_start', `--chromium: ${chromium} made no picture: ${why}`);
    }
  });
}
