import { conventions } from '../comparison/conventions.ts';
import { definitions, reportConventions } from '../performance/definitions.ts';

/** A metric: for its description in the interface, and for docs/reference/metrics.md. */

export interface Metric {
  /** `name`, or `Schema.name` where the name means something else in another schema. */
  field: string;
  /** One sentence, without its full stop. */
  definition: string;
  /** Where the definition does not say it all. */
  formula?: string;
  source?: string;
  /** When it is null, after "Null"; as the group where that is left out. Empty: never. */
  missing?: string;
  /** When it is null besides, after "also". */
  also?: string;
  unit?: Unit;
  /** It is scaled to a year, which takes days on two of three weekdays. */
  isYearly?: true;
}

export type Unit = 'fraction' | 'money' | 'dollars' | 'count';

/** Their numbers are inside objects, which say it themselves. */
const OBJECTS = ['best_day', 'worst_day', 'max_drawdown', 'drawdowns', 'interval'];

const unitTexts: Readonly<Record<Unit, string>> = {
  fraction: 'A fraction: 0.01 is 1 %',
  money: 'In the model’s currency',
  dollars: 'In dollars',
  count: '',
};

export interface MetricGroup {
  title: string;
  /** Where the figures are in responses. */
  place: string;
  /** When they are null, after "Null". */
  missing?: string;
  metrics: readonly Metric[];
}

type More = Omit<Metric, 'field' | 'definition'>;

const unitOfGroup: Readonly<Record<string, Unit>> = {
  return: 'fraction',
  fraction: 'fraction',
  profit: 'money',
  dollars: 'money',
  cost: 'dollars',
  count: 'count',
};

const { units } = reportConventions(0, []);

/** A metric that responses define. */
export function defined(field: keyof typeof definitions, more: More = {}): Metric {
  const group = Object.entries(units).find(([, names]) => names.includes(field))?.[0];
  const unit = unitOfGroup[group ?? ''];
  return { field, definition: definitions[field], ...(unit && { unit }), ...more };
}

/** A metric that a comparison defines. */
export function told(field: keyof typeof conventions, more: More = {}): Metric {
  return { field, definition: conventions[field], ...more };
}

export function plain(field: string, definition: string, more: More = {}): Metric {
  return { field, definition, ...more };
}

export const [never, yearly]: More[] = [{ missing: '' }, { isYearly: true }];

export function metricText(
  { field, definition, unit, isYearly, ...own }: Metric,
  { missing: usual = '' }: MetricGroup,
): string {
  const { missing = usual, also } = own;
  const rest = [also, isYearly && 'with days on fewer than two of three weekdays'].filter(Boolean);
  const sentences = [
    definition,
    unit && !OBJECTS.includes(field) && unitTexts[unit],
    missing && [`Null ${missing}`, ...rest].join('; also '),
  ];
  return sentences
    .filter(Boolean)
    .map((sentence) => `${sentence}.`)
    .join(' ');
}
