/** Fields of most responses, of jobs, entries and terms. The build reads them. */
export const jobFields: Readonly<Record<string, string>> = {
  // Of most responses.
  count: 'How many items the list of this response has.',
  deployment_mode:
    'The mode of the service: PROD for real models, DEV for simulated ones. UNKNOWN for a viewed file that does not record it.',
  is_dev_mode: 'Whether the mode is DEV.',
  preserve_dev_data:
    'Whether DEV keeps its database when the service restarts (PRESERVE_DEV_DATA); null in other modes.',
  next_before: 'The value of `before` for the next page; null on the last page.',
  unavailable:
    'Why figures of this object are null, by the name of the figure. A figure that is not null is not listed.',
  detail: 'What is wrong with the request, in a sentence.',
  code: '`nothing_to_resume` when every model has already run to the requested end; otherwise absent.',

  // Names and dates that occur everywhere.
  job_id: 'The id of the job, from the response to the trigger.',
  model:
    'The name of a run: the signature of its entry, for repeats with its number (`gpt-5#2`), in a study with the ' +
    'study’s name (`gpt-5@costs`).',
  family: 'The signature of the entry; in a study `signature@study`.',
  study: 'The study; null for the one without a name.',
  date: 'The date of the model-day.',
  start_date: 'The first date.',
  end_date: 'The last date.',
  symbol: 'The ticker symbol.',
  currency: 'The currency of the money, such as USD. What a model costs is always in dollars.',
  reason: 'The reason, in a sentence.',

  // Jobs.
  status: 'The status of the job.',
  'TriggerResponse.status': 'A new job is `pending`.',
  'CancelResponse.status': 'The job is now `cancelled`.',
  'DiscardResponse.status': 'The job is now `discarded`.',
  'ModelDay.status':
    'The status of the model-day. A model-day that is `skipped` says why in `error`.',
  total_model_days: 'How many model-days the job has: its models times its weekdays.',
  message: 'What happened, in a sentence.',
  warnings:
    'What may make the results differ from what you expect, in sentences; null without any.',
  warning_codes:
    'The code of each warning, in the order of `warnings`; null for a warning without one.',
  progress: 'How many model-days have completed, failed or not yet run.',
  completed: 'Model-days that are done, including those that were skipped.',
  failed: 'Model-days that failed.',
  pending: 'Model-days that have not ended. After a cancellation: those that did not run.',
  skipped:
    'Completed model-days that were skipped: already completed, before the model’s resume date, or without prices.',
  cancelled: 'Pending model-days that will never run, because the job was cancelled.',
  date_range: 'The weekdays of the job.',
  models: 'The models, one item for each.',
  'JobStatusResponse.models': 'The names of the job’s runs.',
  'Job.models': 'The names of the job’s runs.',
  'PartlyCommonDay.models': 'Up to five of the models that lack the date.',
  'AuditCounts.models': 'Models that have active model-days.',
  universe: 'The name of the universe in the configuration; null for the default one.',
  'AgentDay.universe': 'The symbols that may be bought.',
  created_at: 'When the job was created, in UTC.',
  'ResultsRecord.created_at': 'When the model-day was committed, in UTC.',
  started_at: 'When it started, in UTC; null until then.',
  'TradingSession.started_at': 'When the session started, in UTC.',
  completed_at: 'When it ended, in whatever status, in UTC; null until then.',
  total_duration_seconds:
    'Seconds from start to end; null until the job has ended, and for one that never started.',
  duration_seconds:
    'Seconds from start to end; null until it has ended, and for what never started.',
  'AuditResponse.duration_seconds': 'How many seconds the audit took.',
  error: 'Why it failed or was skipped; null otherwise.',
  'JobStatusResponse.error': 'Why the job failed as a whole; null otherwise.',
  'Job.error': 'Why the job failed as a whole; null otherwise.',
  'SessionUsage.error': 'Why the session failed; null unless it did.',
  'RefusedOrder.error': 'Why the order was refused.',
  'ToolRefusal.error': 'Why the call was refused, as the model reads it.',
  entries:
    'The entries that the job runs, one item for each: the runs of an entry differ only in number and seed.',
  entry:
    'The entry as the trigger resolved it: what the service sends, and where. It contains no secret.',
  'Model.entry': 'The entry as the newest job resolved it; null before the first job.',
  terms: 'The terms on which all models of the job trade.',
  replace_existing: 'Whether the job replaces model-days that were completed before.',
  details: 'The model-days of the job, by date and model.',
  'ModelPerformance.details':
    'Months, drawdowns, profit by symbol and style; null unless `details=true`.',
  'Family.details': 'The style of the mean run; present with `by=entry` and `details=true`.',
  runs: 'The names of the runs.',
  'Family.runs': 'The runs of the entry, with their returns.',
  'LeftOutDay.runs': 'The runs that lack the day, or whose return on it starts from another close.',
  most_frequent_error:
    'The most frequent error of the failed model-days; null when none has failed.',
  'FrequentError.reason': 'The error.',
  'FrequentError.model_days': 'How many model-days failed with it.',
  jobs: 'The jobs, the newest first.',

  // What a model-day used.
  usage: 'What the model-days used: requests, tokens and cost.',
  'JobStatusResponse.usage': 'What the job’s model-days cost.',
  'Job.usage': 'What the job’s model-days cost.',
  'TradingSession.usage':
    'What the model-day used in its job, over all attempts; null unless `include_full_conversation=true`.',
  'TradingDecision.usage': 'The tokens that the agent used, for the log and the cost.',
  'DayDone.usage': 'The tokens that the agent used, for the log and the cost.',
  steps: 'Answers that the model was asked for, without retries.',
  requests: 'Requests to the provider, with retries.',
  prompt_tokens:
    'Tokens of the prompts, cached ones included; null when the provider reported none.',
  completion_tokens:
    'Tokens of the answers, reasoning included; null when the provider reported none.',
  cached_tokens: 'Prompt tokens that the provider read from its cache; null when it reported none.',
  reasoning_tokens: 'Answer tokens that were reasoning; null when the provider reported none.',
  'JobUsage.cost_usd':
    'Dollars that the job’s model-days cost, failed ones included, as far as known; null when no cost is known.',
  'ModelDay.cost_usd':
    'Dollars that the model-day cost over all attempts, as far as known; null when no cost is known.',
  'SessionUsage.cost_usd':
    'Dollars that the model-day cost over all attempts, as far as known; null when no cost is known.',
  model_days_without_cost: 'Model-days that asked a model and whose cost is unknown.',

  // An entry of the configuration, as it ran.
  signature: 'The signature of the entry.',
  'Model.signature': 'The name of the run, as in `model` of other responses.',
  run: 'Which of the entry’s runs this is, counted from 1.',
  'AgentDay.run': 'The name of the run, such as `my-agent#2`.',
  repeats: 'How many runs the entry has.',
  'Entry.kind':
    'What trades: a provider’s model, an agent of your own, a simulated model or a baseline. `unlisted`: the ' +
    'configuration has no such entry, so its model-days fail.',
  'Decision.kind':
    'An executed order, a refused order, a malformed call, a failed model-day, or a model-day without a trade.',
  'Suspected.kind':
    'What the prices may not reflect: a split, the true amount of a dividend, or the end of the symbol.',
  'Incomparability.kind': 'In which respect the model differs.',
  'IncomparableModel.kind': 'In which respect the model differs.',
  'DocumentCoverage.kind': 'The kind of the documents, such as 10-K or news.',
  'DocumentResponse.kind': 'The kind of the document, such as 10-K or news.',
  'ListedDocument.kind': 'The kind of the document, such as 10-K or news.',
  'DocumentPart.kind': 'The kind of the document, such as 10-K or news.',
  basemodel: 'The model that the provider is asked for, or the baseline.',
  'Model.basemodel':
    'The `basemodel` of the entry; null for a model that the configuration does not list.',
  url: 'Where requests go, without user and password, and with the values of its query blank; null without HTTP.',
  api: 'The interface of the provider: Chat Completions, Responses or Messages, or `agent`; null without HTTP.',
  stream: 'Whether answers are streamed; null without HTTP.',
  stream_is_set:
    'Whether the configuration sets `stream`. Otherwise the service stops streaming where a provider rejects it.',
  url_is_cut: 'Whether a user, a password or a value of the query was removed from `url`.',
  key_source:
    'Where the API key comes from: the entry, a variable that it names (`variable`), the variable of the provider ' +
    '(`maker`), or OPENAI_API_KEY of the service; null without one.',
  key_variable:
    'The environment variable of the key; null without one. The key itself is stored nowhere.',
  parameters:
    'The body of a request without messages and tools. Values with the name of a secret are blank, known keys are `[key]`.',
  'DayTool.parameters': 'The arguments, as JSON Schema.',
  prompt: 'The entry’s own instructions, which follow the system prompt; null without any.',
  notes: 'Whether the model can keep a note from day to day.',
  knowledge_cutoff:
    'The last date that the model’s training data covers, as its entry says; null when it does not. The model may ' +
    'remember days up to it.',
  price_per_million_tokens:
    'What a million tokens cost, in dollars; null when the entry does not say, and the cost is unknown.',
  input: 'Dollars for a million prompt tokens.',
  output: 'Dollars for a million answer tokens.',
  cached_input: 'Dollars for a million prompt tokens from the cache; without it `input`.',
  cache_write:
    'Dollars for a million prompt tokens that are written to the cache; without it 1.25 times `input`.',
  max_cost_usd:
    'No model-day starts once the job’s days of this entry have cost this many dollars; null without a limit.',
  'JobTerms.max_cost_usd':
    'No model-day starts once the job’s days of its entry have cost this many dollars. An entry’s own limit takes ' +
    'precedence. Null without a limit.',
  tools: 'The names of the tools that the model is offered.',
  'DayTools.tools': 'The tools of the day.',
  documents: 'The documents.',
  'Entry.documents': 'False when the model may read no documents; absent when it may.',
  'TradingSession.documents':
    'What the session listed or read, the newest first; null unless `include_full_conversation=true`.',
  'DocumentCoverage.documents':
    'How many documents there are. Each is counted once, whatever versions it has.',
  decision:
    '`tools` when the model trades by calling tools, `one_answer` when each day is one answer.',
  agent: 'What an agent of your own may do on a day; null for other models.',
  max_tool_calls: 'How many tool calls a day allows.',
  seconds: 'How many seconds the agent has for a day.',

  // Terms of a job.
  initial_cash:
    'The cash at the start of the model’s first day of all; null when that is not stored.',
  'JobTerms.initial_cash': 'The cash that a model starts with.',
  commission_per_trade: 'Commission of each order, in the market’s currency.',
  commission_bps: 'Commission in basis points of an order’s value; one is 0.01 %.',
  min_commission: 'The least commission of an order, in the market’s currency.',
  sell_tax_bps: 'Tax on a sale, in basis points of its value.',
  slippage_bps: 'How much worse than the open an order fills, in basis points.',
  market: 'The rules of the exchange. Money is in its currency, except what models cost.',
  sell_same_day: 'Whether shares can be sold on the day on which they were bought.',
  opens:
    'When a session begins, in the time of `time_zone`. Models can read what was published before.',
  time_zone: 'The time zone of the exchange, such as America/New_York.',
  benchmark: 'What was held instead: its figures and its curve, shared by all models.',
  'Market.benchmark': 'The symbol of the default benchmark.',
  'Answer.benchmark':
    'The return of the benchmark over the same days; null when it lacks such a day.',
  boards: 'Lots and price limits by symbol. The first that matches a symbol applies.',
  minimum: 'The least number of shares in a purchase.',
  step: 'Above the minimum, purchases go up in steps of this many shares.',
  price_limit:
    'How far a day’s price may be from the reference price, as a fraction; null without a limit.',
  'JobTerms.dividends': 'Whether models receive the dividends of what they hold.',
  'CurvePoint.dividends': 'Dividends received that morning, in the model’s currency.',
  'SymbolProfit.dividends': 'Dividends that the symbol paid, in the model’s currency.',
  'SymbolCoverage.dividends': 'Which dividends are stored.',
  max_steps: 'How many answers a model may give on a day.',
  open: 'The open of the date.',
  'JobTerms.open':
    'Whether models see the open at which their orders fill (`shown`) or decide before it (`hidden`).',
  'AgentPrice.open': 'The open, at which orders fill; null with a hidden open and without a bar.',
  limits: 'What a portfolio and a day may not exceed; null without limits.',
  'AgentDay.limits': 'What the portfolio and the day may not exceed.',
  max_weight:
    'The largest fraction of the portfolio that a symbol may be after a purchase; null or absent without a limit.',
  max_orders: 'How many orders may be executed or placed on a day; null or absent without a limit.',
  min_cash:
    'The least fraction of the portfolio that a purchase must leave in cash; null or absent without a limit.',
  'JobTerms.symbols': 'The symbols that may be bought.',
  'Board.symbols': 'A symbol, or a pattern with `*` for any characters.',
  'Benchmark.symbols': 'How many symbols the benchmark holds: 1, or those of the universe.',
  'HoldingsResponse.symbols':
    'Every symbol that was held at a close of these days, by mean weight.',
  'CoverageResponse.symbols': 'The symbols with their coverage.',
  'DocumentResponse.symbols': 'The companies that it is about; empty when it is about all.',
  'ListedDocument.symbols': 'The companies that it is about; empty when it is about all.',
  'DocumentPart.symbols': 'The companies that it is about; empty when it is about all.',
  'Market.name': 'The name of the market in the configuration.',
  'Benchmark.name':
    'The symbol, or `universe`: equal amounts of every symbol that could be bought.',
  'ComparedBenchmark.name': 'The symbol, or `universe`.',
  'Model.name': 'The name that the configuration shows for it; null without one.',
};
