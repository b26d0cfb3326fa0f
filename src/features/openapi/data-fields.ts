/** Fields of models, prices and documents, and of the service. The build reads them. */
export const dataFields: Readonly<Record<string, string>> = {
  // Models.
  universes: 'The universes that a trigger can choose, besides the default one.',
  studies: 'The studies that the configuration or a job names.',
  newest_study:
    'The study of the newest job with active model-days; null for the one without a name.',
  configuration_error: 'Why the configuration cannot be read; null when it can.',
  enabled: 'Whether a trigger without `models` runs it.',
  configured: 'Whether the configuration lists it.',
  first_completed_date: 'The first date that it completed; null before the first.',
  last_completed_date: 'The last date that it completed; null before the first.',
  completed_model_days: 'How many model-days it has completed.',
  model_days_before_cutoff:
    'Those of its completed model-days that are on or before the knowledge cutoff.',
  order:
    'The position of its entry in the order of first jobs, from 0; null before its first job. Pages choose colours by it.',
  last_job: 'The newest job that ran it; null before its first.',

  // Prices and documents.
  source: 'The origin of the document; null when it is not stored.',
  'SymbolCoverage.source': 'Where the last bar comes from; null without a bar.',
  'CoverageSpan.source': 'The provider or the import that recorded the span.',
  first_bar: 'The date of the first bar; null without one.',
  last_bar: 'The date of the last bar; null without one.',
  bars: 'The bars, the oldest first.',
  'SymbolCoverage.bars': 'How many bars are stored; null unless a single symbol is asked for.',
  last_download: 'When a download or an import last recorded a span, in UTC; null without one.',
  spans:
    'The ranges of dates that downloads and imports have covered. A date outside may lack data.',
  gaps: 'The ranges of dates between the spans.',
  recorded_at: 'When the span was recorded, in UTC.',
  weekdays: 'How many weekdays the gap has.',
  'DividendCoverage.count': 'How many dividends are stored.',
  last_ex_date: 'The ex-date of the last stored dividend; null without one.',
  coverage: 'The documents by kind and symbol.',
  'DocumentCoverage.symbol': 'The symbol; null for documents that are about all symbols.',
  'DocumentCoverage.first_date': 'The first date of publication.',
  'DocumentCoverage.last_date': 'The last date of publication.',
  'DocumentResponse.date': 'The date of publication, New York time.',
  'DocumentResponse.url': 'The address of the original; null without one.',
  'ListedDocument.date': 'The date of publication.',
  published_at: 'When this version was published: a date, or an instant in UTC.',
  digest: 'The SHA-256 of the content of this version.',
  text: 'The text.',

  // Audit and health.
  'AuditResponse.status':
    '`faulty` when there is damage or a problem. Stale and unverifiable model-days are sound.',
  counts: 'What was replayed and found, in numbers; the lists of this response may be shorter.',
  superseded_model_days: 'Model-days that were replaced or discarded, and were replayed too.',
  damage: 'Damage of the file, one sentence for each.',
  'AuditCounts.damage': 'How much damage there is.',
  problems: 'The first 1,000 model-days whose replay differs from what is stored.',
  'AuditCounts.problems': 'All model-days whose replay differs from what is stored.',
  'AuditFinding.problems': 'What differs, in sentences.',
  unverifiable:
    'The first 1,000 model-days that cannot be verified, because a price that they read was overwritten since.',
  'AuditCounts.unverifiable': 'All model-days that cannot be verified.',
  'AuditFinding.status':
    'The status of the session: `active` if figures count it, `superseded` if it was replaced or discarded. Without a ' +
    'session, the status of the model-day.',
  'HealthResponse.status': '`unhealthy` when the database cannot be read or written.',
  database: 'Whether the database can be read and written.',
  'HealthResponse.timestamp': 'The time of the service, in UTC.',
  viewing: 'The file that is shown; absent in a service.',
};
