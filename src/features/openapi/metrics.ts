import { comparisonMetrics } from './comparison-metrics.ts';
import { metricText } from './metric.ts';
import { performanceMetrics } from './performance-metrics.ts';

/** Every metric: for its description in the interface, and for docs/reference/metrics.md. The build reads it. */

export const metricGroups = [...performanceMetrics, ...comparisonMetrics];

const described = new Map(
  metricGroups.flatMap((group) =>
    group.metrics.map((metric) => [metric.field, metricText(metric, group)] as const),
  ),
);

/** Every field that is a metric, as in the list. */
export const metricFields: readonly string[] = [...described.keys()];

/** What the interface says of a metric; undefined for another field. */
export function describeMetric(field: string): string | undefined {
  return described.get(field);
}
