import type uPlot from 'uplot';
import { modelDayPath } from '../../page-paths.ts';
import { h } from '../element.ts';
import { count, share } from '../format.ts';
import { coloursOf } from '../look.ts';
import type { Line } from '../plot/lines.ts';
import { type Box, freeRow } from '../plot/marks.ts';
import { createPlot } from '../plot/plot.ts';
import { datesFromStart, valuesFromStart } from '../plot/values.ts';
import type { Details, Drawdown, ModelReport } from '../responses.ts';
import { goTo } from '../router.ts';
import { dateColumn, numberColumn, table } from '../table.ts';
import { section } from '../ui.ts';
import { type Fall, fallsOf } from './falls.ts';
import { type Definitions, meaningOf } from './meaning.ts';

const HEIGHT = 190;
/** In CSS pixels. */
const FONT = 11;
const LINE = 14;
const GAP = 3;
const DOT = 3;
/** How strongly a fall is shaded, from 0 to 1. */
const SHADE = 0.1;
const EDGE_SHADE = 0.4;

interface Sources {
  report: ModelReport;
  details: Details;
  definitions: Definitions;
  signal: AbortSignal;
}

/**
 * How far the value was below its last high, with the deepest falls numbered, and a table of them.
 */
export function drawdowns({ report, details, definitions, signal }: Sources): HTMLElement {
  const { drawdowns: deepest } = details;
  const dates = datesFromStart(report.curve.map(({ date }) => date));
  const below = report.curve.map(({ date, drawdown }) => ({ date, value: 0 - drawdown }));
  const values = valuesFromStart(dates, below, 0);
  const line: Line = { label: 'Drawdown', values, look: 'loss', isFilled: true };
  const onOpen = (_label: string, date: string) => goTo(modelDayPath(report.model, date));
  const drawOver = (plot: uPlot) => drawFalls(plot, fallsOf(deepest, dates));
  const options = {
    label: 'Drawdown by date',
    dates,
    lines: [line],
    format: share,
    height: HEIGHT,
    group: 'model',
  };
  const { element } = createPlot(
    { ...options, hasStart: true, fromZero: true, drawOver, onOpen },
    signal,
  );
  return h(
    'div.two.even',
    section('Drawdown', element, meaningOf(definitions, 'drawdown')),
    section('Deepest drawdowns', tableOf(deepest), meaningOf(definitions, 'drawdowns')),
  );
}

interface Row extends Drawdown {
  place: number;
}

function tableOf(deepest: readonly Drawdown[]): HTMLElement {
  if (deepest.length === 0) return h('p.quiet', 'The value never fell below its last high.');
  const rows = deepest.map((drawdown, index): Row => ({ ...drawdown, place: index + 1 }));
  return table({
    caption: 'Deepest drawdowns, with their numbers in the plot',
    rows,
    columns: [
      numberColumn<Row>('No.', ({ place }) => place, count),
      numberColumn<Row>('Depth', ({ depth }) => depth, share),
      dateColumn<Row>('High', (row) => row.peak_date, 'start'),
      dateColumn<Row>('Low', (row) => row.trough_date),
      dateColumn<Row>('Recovered', (row) => row.recovery_date, 'not yet'),
      numberColumn<Row>('Days', ({ length }) => length, count, {
        meaning: 'From the high to the recovery, or to the last day',
      }),
    ],
  });
}

/**
 * Shades each fall from its high to its recovery, with a dot at its low and its number on the side
 * where the line is not.
 */
function drawFalls(plot: uPlot, falls: readonly Fall[]): void {
  const { ctx, bbox } = plot;
  const pixel = devicePixelRatio;
  const colours = coloursOf(['ink', 'loss']);
  const xOf = (date: string) => plot.valToPos(Date.parse(date) / 1000, 'x', true);
  const labels = { top: [] as Box[], bottom: [] as Box[] };
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.font = `600 ${FONT * pixel}px system-ui, sans-serif`;
  ctx.textAlign = 'center';
  for (const { number, from, to, low, depth } of falls) {
    const x = xOf(low);
    const y = plot.valToPos(depth, 'y', true);
    const side = y - bbox.top < bbox.height / 2 ? 'bottom' : 'top';
    const row = freeRow(labels[side], { left: x - FONT * pixel, right: x + FONT * pixel });
    const inside = (GAP + row * LINE) * pixel;
    ctx.globalAlpha = SHADE;
    ctx.fillStyle = colours.loss;
    ctx.fillRect(xOf(from), bbox.top, xOf(to) - xOf(from), bbox.height);
    ctx.globalAlpha = EDGE_SHADE;
    for (const edge of [from, to]) ctx.fillRect(xOf(edge), bbox.top, pixel, bbox.height);
    ctx.globalAlpha = 1;
    ctx.beginPath();
    ctx.arc(x, y, DOT * pixel, 0, 2 * Math.PI);
    ctx.fill();
    ctx.fillStyle = colours.ink;
    ctx.textBaseline = side;
    ctx.fillText(
      String(number),
      x,
      side === 'top' ? bbox.top + inside : bbox.top + bbox.height - inside,
    );
  }
  ctx.restore();
}
