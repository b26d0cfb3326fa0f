import { conventions } from '../comparison/conventions.ts';
import { definitions, reportConventions } from '../performance/definitions.ts';
import { comparisonMetrics } from './comparison-metrics.ts';
import { performanceMetrics } from './performance-metrics.ts';

const definitionTexts: Readonly<Record<string, string>> = { ...conventions, ...definitions };
const { units } = reportConventions(0, []);

const FRACTION = 'A fraction: 0.01 is 1 %';
const MONEY = 'In the model’s currency';
const unitTexts: Readonly<Record<string, string>> = {
  return: FRACTION,
  fraction: FRACTION,
  profit: MONEY,
  dollars: MONEY,
  cost: 'In dollars',
};

/** Every metric, with what the conventions in responses say of it. */
export const metricGroups = [...performanceMetrics, ...comparisonMetrics].map((group) => ({
  ...group,
  metrics: Object.entries(group.metrics).map(([field, own]) => {
    const name = field.replace(/.*\./, ''); // `ModelDetails.symbols` is `symbols`
    const unit = Object.entries(units).find(([, names]) => names.includes(name))?.[0];
    return { field, name, definition: definitionTexts[name], unit, ...own };
  }),
}));

/** Their numbers are inside objects, which say it themselves. */
const OBJECTS = ['best_day', 'worst_day', 'max_drawdown', 'drawdowns', 'interval'];

/** The descriptions of the metrics, by field. */
export const metricTexts = metricGroups.flatMap(({ metrics, missing: usual = '' }) =>
  metrics.map(({ field, definition, unit, missing = usual, also, isYearly }) => {
    const others = [also, isYearly && 'with days on fewer than two of three weekdays'];
    const sentences = [
      definition,
      unit && !OBJECTS.includes(field) && unitTexts[unit],
      missing && [`Null ${missing}`, ...others.filter(Boolean)].join('; also '),
    ];
    return [field, `${sentences.filter(Boolean).join('. ')}.`] as const;
  }),
);
