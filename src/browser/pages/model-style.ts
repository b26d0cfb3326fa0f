import { h, svg } from '../element.ts';
import { change, pValue, ratio, share } from '../format.ts';
import { highest } from '../plot/scale.ts';
import type { ModelReport } from '../responses.ts';
import { nameColumn, numberColumn, table } from '../table.ts';
import { section } from '../ui.ts';

/** Where a return came from: a bar for each factor, and one for what is left. */

type Style = NonNullable<NonNullable<ModelReport['details']>['style']>;

interface Row {
  name: string;
  beta: number | null;
  p: number | null;
  contribution: number;
}

/** Two-sided 95 %. */
const NORMAL_95 = 1.96;
const DAYS_PER_YEAR = 252;
/** In pixels. */
const [WIDTH, HEIGHT] = [160, 12];

/** The section of a run, or of the mean of several; null where no factors are stored. */
export function styleView(style: Style | null | undefined): HTMLElement | null {
  if (style == null) return null;
  if (style.unavailable !== null) return section('Style', h('p.quiet', `${style.unavailable}.`));
  const rows: Row[] = [
    ...style.factors.map(({ factor: name, beta, p_value: p, contribution }) => {
      return { name, beta, p, contribution };
    }),
    {
      name: 'left',
      beta: null,
      p: style.alpha_p_value,
      contribution: style.alpha_contribution ?? 0,
    },
  ];
  const most = highest(
    rows.map(({ contribution }) => Math.abs(contribution)),
    0,
  );
  return section(
    'Style',
    h('p', styleInWords(style)),
    table<Row>({
      caption: 'Where the return came from',
      rows,
      isFixed: true,
      columns: [
        nameColumn('Factor', 'name'),
        { title: '', isDrawing: true, isSpare: true, cell: (row) => bar(row, most) },
        numberColumn('Points', 'contribution', change, { isToned: true }),
        numberColumn('Beta', 'beta', ratio),
        numberColumn('p', 'p', pValue),
      ],
    }),
  );
}

/** `Of +12.4 %, +9.1 % is the market, +2.6 % momentum; +0.7 % (±4.2 %) is left.` */
export function styleInWords(style: Style): string {
  const { factors, alpha_contribution: left, alpha_standard_error: error, days } = style;
  const parts = factors.map(({ factor, contribution }, index) => {
    const name = factor === 'market' ? 'the market' : factor;
    return `${change(contribution)}${index === 0 ? ' is' : ''} ${name}`;
  });
  const all = factors.reduce((sum, { contribution }) => sum + contribution, left ?? 0);
  const band = share(((error ?? 0) * NORMAL_95 * days) / DAYS_PER_YEAR);
  return `Of ${change(all)}, ${parts.join(', ')}; ${change(left)} (±${band}) is left.`;
}

/** From the middle to the right for a gain, to the left for a loss. */
function bar({ contribution }: Row, most: number): SVGElement {
  const length = most === 0 ? 0 : (Math.abs(contribution) / most) * (WIDTH / 2);
  const x = contribution < 0 ? WIDTH / 2 - length : WIDTH / 2;
  return svg(
    'svg',
    { class: 'dots', width: WIDTH, height: HEIGHT, 'aria-hidden': 'true' },
    svg('line', { x1: WIDTH / 2, x2: WIDTH / 2, y1: 0, y2: HEIGHT }),
    svg('rect', {
      class: contribution < 0 ? 'loss' : 'gain',
      x,
      y: 1,
      width: length,
      height: HEIGHT - 2,
    }),
  );
}
