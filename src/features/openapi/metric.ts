/** Metrics by field: for their description in the interface, and for docs/reference/metrics.md. */

export interface MetricGroup {
  title: string;
  /** Where the metrics are in responses. */
  place: string;
  /** When they are null, after "Null". */
  missing?: string;
  /** By `name`, or `Schema.name` where the name means something else in another schema. */
  metrics: Readonly<Record<string, Metric>>;
}

export interface Metric {
  /** One sentence, without its full stop. Default: that of the conventions in a response. */
  definition?: string;
  /** Where the definition does not say it all. */
  formula?: string;
  source?: string;
  /** When it is null, after "Null". Default: as its group. Empty: never. */
  missing?: string;
  /** When it is null besides, after "also". */
  also?: string;
  /** As the conventions in a response name units. Default: the one that they say. */
  unit?: 'fraction' | 'dollars';
  /** It is scaled to a year, which takes days on two of three weekdays. */
  isYearly?: true;
}
