import { modelDayPath } from '../../page-paths.ts';
import { h } from '../element.ts';
import { counted, ratio, share } from '../format.ts';
import { lookOf } from '../look.ts';
import { createPlot } from '../plot/plot.ts';
import { datesFromStart } from '../plot/values.ts';
import type { Details, ModelReport } from '../responses.ts';
import { goTo } from '../router.ts';
import { section } from '../ui.ts';
import { type Definitions, meaningOf } from './meaning.ts';

const HEIGHT = 150;

interface Sources {
  report: ModelReport;
  details: Details;
  definitions: Definitions;
  signal: AbortSignal;
}

/** The Sharpe ratio and the volatility over a window that moves along the days. */
export function rollingRisk({ report, details, definitions, signal }: Sources): HTMLElement {
  const { window, points, unavailable } = details.rolling;
  const dates = datesFromStart(report.curve.map(({ date }) => date));
  const { colour: look } = lookOf(report.model);
  const byDate = new Map(points.map((point) => [point.date, point]));
  const onOpen = (_label: string, date: string) => goTo(modelDayPath(report.model, date));
  const plot = (
    title: string,
    name: 'sharpe_ratio' | 'annualised_volatility',
    format: typeof ratio,
  ) => {
    const heading = `${title} over ${counted(window, 'day')}`;
    const values = dates.map((date) => byDate.get(date)?.[name] ?? null);
    if (values.every((value) => value === null)) {
      const reason = unavailable['points'] ?? points[0]?.unavailable[name] ?? '';
      return section(heading, h('p.quiet', `${reason}.`));
    }
    const lines = [{ label: title, values, look }];
    const options = {
      label: heading,
      dates,
      lines,
      format,
      height: HEIGHT,
      group: 'model',
      hasStart: true,
      onOpen,
    };
    const { element } = createPlot(options, signal);
    return section(heading, element, meaningOf(definitions, name));
  };
  return h(
    'div.two.even',
    plot('Sharpe ratio', 'sharpe_ratio', ratio),
    plot('Volatility', 'annualised_volatility', share),
  );
}
