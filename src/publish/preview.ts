import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { messageOf, ServiceError } from '../basics/domain.ts';

/** In pixels: what sites that show previews of links expect. */
const [WIDTH, HEIGHT] = [1200, 630];
const [LEFT, TOP, RIGHT, BOTTOM] = [60, 170, 840, 570];
/** More names would not be read. */
const MOST_NAMES = 11;
const NAME_HEIGHT = 34;
const LONGEST_NAME = 18;
const LONGEST_TITLE = 56;

/** A line of the picture: what a dollar has become by date, from 1 before the first. */
export interface PreviewLine {
  name: string;
  colour: string;
  isDashed: boolean;
  growth: Map<string, number>;
}

/** The curves as a picture, with the names and returns of the highest: for previews of links. */
export function previewSvg(
  { title, words }: { title: string; words: string },
  lines: readonly PreviewLine[],
): string {
  const dates = [...new Set(lines.flatMap(({ growth }) => [...growth.keys()]))].sort();
  const values = [1, ...lines.flatMap(({ growth }) => [...growth.values()])];
  const low = values.reduce((one, other) => Math.min(one, other));
  const high = values.reduce((one, other) => Math.max(one, other));
  const x = (index: number) => LEFT + ((RIGHT - LEFT) * index) / Math.max(1, dates.length);
  const y = (value: number) => BOTTOM - ((BOTTOM - TOP) * (value - low)) / (high - low || 1);
  const drawn = lines.map((line) => {
    const points = dates.flatMap((date, index) => {
      const value = line.growth.get(date);
      return value === undefined ? [] : [`${round(x(index + 1))},${round(y(value))}`];
    });
    const last = [...line.growth.values()].at(-1) ?? 1;
    return { ...line, points: [`${LEFT},${round(y(1))}`, ...points].join(' '), last };
  });
  const named = drawn.toSorted((one, other) => other.last - one.last).slice(0, MOST_NAMES);
  let next = TOP - NAME_HEIGHT;
  const names = named.map(({ name, colour, last }, index) => {
    const room = BOTTOM - (named.length - 1 - index) * NAME_HEIGHT;
    next = Math.min(room, Math.max(next + NAME_HEIGHT, y(last)));
    const made = `${last >= 1 ? '+' : '−'}${(Math.abs(last - 1) * 100).toFixed(2)} %`;
    const words = `${escaped(cut(name, LONGEST_NAME))} <tspan font-weight="600">${made}</tspan>`;
    return `<text x="${RIGHT + 14}" y="${round(next + 7)}" font-size="22" fill="${colour}">${words}</text>`;
  });
  const curves = drawn.map(({ points, colour, isDashed }) => {
    const dash = isDashed ? ' stroke-dasharray="8 6"' : '';
    return `<polyline points="${points}" fill="none" stroke="${colour}" stroke-width="3"${dash}/>`;
  });
  const box = `width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${box} font-family="system-ui, sans-serif">
<rect width="100%" height="100%" fill="#fff"/>
<text x="${LEFT}" y="80" font-size="40" font-weight="650" fill="#14191d">${escaped(cut(title, LONGEST_TITLE))}</text>
<text x="${LEFT}" y="122" font-size="24" fill="#58636c">${escaped(words)}</text>
<line x1="${LEFT}" x2="${RIGHT}" y1="${round(y(1))}" y2="${round(y(1))}" stroke="#b9c2c8"/>
${[...curves, ...names].join('\n')}
</svg>
`;
}

function round(value: number): number {
  return Number(value.toFixed(1));
}

function cut(text: string, most: number): string {
  const characters = [...text];
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
}

/** A text inside XML, or inside an attribute. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const CHROMIUM_MS = 60_000;

/**
 * The picture as PNG, drawn by a Chromium in a folder of its own. Throws a `ServiceError`
 * (`cannot_start`) if that makes none.
 */
export async function pngOf(svg: string, chromium: string): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'tss-'));
  try {
    const [from, to] = [join(folder, 'preview.svg'), join(folder, 'preview.png')];
    writeFileSync(from, svg);
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
    await new Promise<void>((resolve, reject) =>
      execFile(chromium, args, { timeout: CHROMIUM_MS }, (error) =>
        error === null ? resolve() : reject(error),
      ),
    );
    return readFileSync(to);
  } catch (error) {
    const [why] = messageOf(error).split('\n');
    throw new ServiceError('cannot_start', `--chromium: ${chromium} made no picture: ${why}`);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
