import { svg } from './element.ts';
import { type Look, outlineOf } from './look.ts';

/** In pixels; long enough for a whole period of every dash. */
const [WIDTH, HEIGHT] = [30, 10];

/** A short piece of a line with its colour, dash and marker, to show beside its name. */
export function swatch({ colour, dash, marker }: Look): SVGElement {
  const middle = HEIGHT / 2;
  const box = { width: WIDTH, height: HEIGHT, viewBox: `0 0 ${WIDTH} ${HEIGHT}` };
  return svg(
    'svg',
    { class: `swatch ${colour}`, 'aria-hidden': 'true', ...box },
    svg('line', { x1: 0, x2: WIDTH, y1: middle, y2: middle, 'stroke-dasharray': dash?.join(' ') }),
    marker !== undefined &&
      svg('path', { d: outlineOf(marker), transform: `translate(${WIDTH / 2} ${middle})` }),
  );
}
