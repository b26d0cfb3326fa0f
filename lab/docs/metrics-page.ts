import { metricGroups } from '../../src/features/openapi/metrics.ts';
import { metricLabel, shortLabel } from '../../src/features/performance/labels.ts';

/** docs/reference/metrics.md: the list of metrics from the code, and what readers of them need besides. */

/** The units of the conventions in a response, for readers. */
const unitLabels: Readonly<Record<string, string>> = {
  return: 'fraction',
  fraction: 'fraction',
  profit: 'money',
  dollars: 'money',
  cost: 'dollars',
  count: 'count',
};

type Metric = (typeof metricGroups)[number]['metrics'][number];

function metricItem(metric: Metric): string {
  const { name, definition, formula, source, missing, also, unit, isYearly } = metric;
  const [label, short] = [metricLabel(name), shortLabel(name)];
  const facts = [
    `\`${name}\``,
    short !== label && `in tables "${short}"`,
    unitLabels[unit ?? ''],
    isYearly && 'yearly',
  ];
  const worked = [formula && `\`${formula}\``, source].filter(Boolean).join('; ');
  const sentences = [definition, worked, missing && `Null ${missing}`, also && `Also null ${also}`];
  const text = sentences.filter(Boolean).map((one) => `${one}.`);
  return `- **${label}** (${facts.filter(Boolean).join(', ')}): ${text.join(' ')}`;
}

/** Sections that belong to a group of metrics, after its list. */
const notes: Readonly<Record<string, string>> = {
  Trading: `\`/decisions?kind=refusal\` and \`?kind=malformed\` list every refusal with its reason. Over a whole chain without stale days,
\`profit\` = \`realised_profit\` + \`unrealised_profit\` + \`dividends\`, to 1/10000; a part of a chain keeps the cost of shares bought before it.`,

  'Round trips': `The oldest shares are sold first. A split divides the cost, and a fraction paid in cash is a sale.`,

  Style: `Import a file of [Kenneth French's data library](https://mba.tuck.dartmouth.edu/pages/faculty/ken.french/data_library.html) (daily; three or five factors, momentum), or CSV with \`date\` and a column per factor:

\`\`\`sh
npx trading-simulation-service import-factors F-F_Research_Data_5_Factors_2x3_daily.CSV
\`\`\`

- Values are percentages unless you give \`--unit fraction\`. A warning appears when all are below 0.2 % on 20 or more dates. \`--remove NAME\` removes a factor.
- Without \`factors=\`, factors that do not vary are left out, and those known on fewer than 95 % of the days of the best known factor. \`left_out_factors\` names them.
- f is the file's \`risk_free\`, otherwise \`RISK_FREE_RATE\`. A return over several days meets the factors compounded over these days. Errors are
  as in a comparison, with the correction D/(D − K − 1).
- Compare alphas only over the same factors, and look at the standard error first. A constant slope misses a model that times a factor.`,

  Comparison: `A comparison needs 20 days on which the returns of all runs start from the same close. The day after a missed day covers both, so both are
left out. With \`align=number\`, day 1 is the first date in the window that the model tried.

A model has no figures when its runs share fewer than 20 days, a model-day is stale, or its model-days were called in two ways or served by two models. It
counts only in \`trials\`. A deterministic baseline needs one run.

\`lead\` is a difference of returns in points, \`difference\` is growth: +3.63 % is 0.38 points ahead of +3.25 %, and has grown 0.37 % more.
[Comparing models](../explain/comparing-models.md) explains how to read both.

### Looks

With \`looks=once\`, the default, an interval holds for one look at a window chosen beforehand. With \`looks=daily\`, as the pages use, it holds
on every day: over 20, 60 or 250 days it is 2.3, 1.7 or 1.6 times as wide. Choose models, pairs and window before the first look.`,
};

const start = `## Formulas

- r: the return of a model-day, from the close that it started from to its own close; b: the benchmark's; n: days; s: sample deviation (n − 1).
- f: the risk-free rate per day, (1 + \`RISK_FREE_RATE\`)^(1/252) − 1. The database stores the rate.
- In comparisons x = ln(1 + r); x̄ is the mean of a model's R runs; δ is the mean of x̄ (of a pair: of the difference) over D days; V its variance, V̂ the
  estimate; w = 1 − k/(L + 1) the weights of the lags and γ the autocovariances; t and q Student's quantiles; α = 1 − \`confidence\`.
- A *fraction* of 0.01 is 1 %; *money* is in the model's currency. A *yearly* figure is also null with days on fewer than two of three weekdays.
- A deviation of up to 1/10000 of money is 0, relative to the mean portfolio value. A ratio whose divisor is 0 is null.
- \`dividend_status\` of a day is \`unknown\` when it held a symbol whose dividends that morning are neither stored nor covered.
- A stale day keeps the return from its own start, so the linked return differs from end value over start value.

### Which days

- \`days=clean\` keeps the days after \`clean_after\`, the latest knowledge cutoff of the chosen models, and of each model only days after its
  own. A cutoff applies only if its model has 20 later days, or half as many as the model with the most.
- \`common=true\` keeps the days that a comparison of these models has, each run as a model. A model with fewer than 20 days costs the
  others none. \`left_out\` and \`left_out_days\` say what is not ranked.
- \`by=entry\` measures all runs of an entry over the days on which their returns start from the same close.`;

const end = `## The benchmark

- **Default:** \`QQQ\` (another market's own) when its prices reach the first start; otherwise the universe that most models traded.
- **Next to a model** it is measured over the same gaps, on the very first day from the open. Its own curve has the dates of all models.
- **Without a bar** it keeps its last close for 14 calendar days; then it has no return until the next bar.
- **Splits and dividends** (CRSP; S&P Dow Jones Indices): with a dividend d and s new shares for an old one a return is
  \`(s · close + d) / previous close − 1\`: dividends are reinvested at the close of the ex-date. Where a model-day is paid none, it has none.
- **\`universe\`** (DeMiguel, Garlappi and Uppal 2009) holds equal amounts of every symbol, rebalanced at every close without costs. A symbol
  joins at the close of its next bar. With [members by date](configuration.md) it holds those of each morning.

## Exchanges

On the morning of an exchange (a merger, a spin-off) each share becomes cash, other shares, or both.

- **Cost.** For only cash all shares are sold, which ends their round trips. For new shares cost and date carry over. Otherwise the cost is divided by value at that
  morning's opens: of 10 GE that cost 1,700, at 138.00 for GE and 140.25 for GEV, 1380 / (1380 + 2.5 · 140.25) = 79.74 % remain in GE.
- **Profit.** Cash next to shares, and fractions, are in \`realised_profit\` and in no round trip. Exchanges are no trades and cost no commission.
- **Benchmark.** A return is (cash + new shares · their close + dividend) / previous close − 1. A symbol continues as what it became.
- **Tables.** \`table=actions\` lists \`exchange\` (shares that left, cash per share) and \`received\`.

## Holdings

\`GET /holdings\` values a share as the ledger did: at the close; until it is known at the open; without a bar at the last close, adjusted for
splits. With \`cash_weight\` the weights add up to 1.

## Models that cannot be compared

\`incomparable\` says how a model differs from most others; the leaderboard marks it. \`outside\` marks an agent of your own, which may look up the future.

| \`kind\` | The model |
|---|---|
| \`period\`, \`missing_days\` | ran over other dates; lacks days inside the common period |
| \`stale\` | has stale days; the sentence names the command that runs them again |
| \`costs\`, \`universe\`, \`initial_cash\`, \`dividends\`, \`open\`, \`limits\`, \`market\` | traded on other terms |
| \`documents\` | could read other documents on the same dates than most |
| \`suspected_split\`, \`suspected_dividend\`, \`suspected_end\` | held a symbol over an event that the prices may not know |
| \`never_traded\` | tried, and executed no order |
| \`part_of_universe\` | is a baseline that would hold every symbol and does not |

### What is suspected

\`suspected\` lists each event with \`from\`, the close before. No sentence of a comparison has such a model until it is settled: [Troubleshooting](../guides/troubleshooting.md) has the commands.

| \`kind\` | When | \`date\`, \`to\` |
|---|---|---|
| \`split\` | Raw prices open more than 30 % from the close before, and neither a dividend nor an exchange explains it. | of the jump, its open |
| \`dividend\` | A dividend is above 25 % of the last close in the 14 days before it, and the job pays dividends. | the ex-date, the amount per share |
| \`end\` | No bar on the last 5 or more model-days that held it, while other symbols traded. | the first of them, null |

## Rebalance

\`rebalance(weights, sell_rest)\` is a tool of every model, and what the \`weights\` of a decision do. V is cash and holdings at the prices that the model decides on, before the first order.

1. The target of a symbol is ⌊w · V / price⌋ whole shares. Shares above a target are sold.
2. The symbol that lacks most money is bought first, as far as cash, costs and [limits](configuration.md) allow. A purchase above \`max_weight\` is cut, and \`cut\` says so.
3. Symbols that are not named are sold only with \`sell_rest\`. A symbol without a price today is not traded.

A weight named \`CASH\` is cash. A sum above 1, up to 1.000001, is divided by itself. \`BRK-B\` and \`BRK.B\` are one symbol unless both exist.

## What can mislead

[What can mislead](../explain/what-can-mislead.md) explains survivorship, adjusted prices and documents. Two facts about orders:

- **Fills.** With \`"open": "shown"\` a model reads the open at which its order fills, which no market offers; with
  [\`hidden\`](configuration.md) it decides by previous closes. Over the same 60 purchases, each for all cash, the ledger refuses 24 of 60 where the open is
  shown, and fills 23 of them in part where it is hidden: −5.11 % against −4.60 %.
- **Costs.** An order moves no price. Set \`slippage_bps\` and commissions, and read \`cost_sensitivity\`; \`no_trading_costs\` marks a model without either.

## Words and signs

\`GET /performance?table=returns&format=csv\` has one row per date and one column per model, the benchmark last:

\`\`\`python
import pandas, quantstats
table = pandas.read_csv("http://localhost:8080/performance?table=returns&format=csv", index_col=0, parse_dates=True)
quantstats.reports.html(table["simulated-2"], benchmark=table.iloc[:, -1], output="simulated-2.html")
\`\`\`

How to convert figures of quantstats 0.0.86, empyrical-reloaded 0.7.1 and LEAN (from its source) to ours:

| Ours | quantstats | empyrical | LEAN | What differs |
|---|---|---|---|---|
| \`total_return\` | \`comp\` | \`cum_returns_final\` | \`TotalNetProfit\` | |
| \`annualised_return\` | \`cagr\` | \`annual_return\` | \`CompoundingAnnualReturn\` | LEAN counts calendar days and years of 365. Ours is null below 252 days |
| \`annualised_volatility\` | \`volatility\` | \`annual_volatility\` | \`AnnualStandardDeviation\` | |
| \`sharpe_ratio\` | \`sharpe(r, rf=yearly)\` | \`sharpe_ratio(r, risk_free=f)\` | \`SharpeRatio\` | LEAN: of the compounded mean return |
| \`sortino_ratio\` | \`sortino(r, rf=yearly)\` | \`sortino_ratio(r, f)\` | \`SortinoRatio\` | LEAN: likewise |
| \`calmar_ratio\` | \`calmar\` | \`calmar_ratio\` | – | |
| \`max_drawdown.depth\` | \`max_drawdown\` | \`max_drawdown\` | \`Drawdown\` | **Sign**: below 0 in quantstats and empyrical |
| \`value_at_risk_95\` | \`value_at_risk\` | \`value_at_risk\` | \`ValueAtRisk95\` | **Sign**: a loss is below 0 there. quantstats and LEAN assume a normal distribution; empyrical interpolates |
| \`expected_shortfall_95\` | \`cvar\` | \`conditional_value_at_risk\` | – | **Sign**, as above. quantstats: normal unless \`method="historical"\`; then, as empyrical, whole days: equal to ours when n is a multiple of 20; else [compute it](../guides/analyse-in-python.md#quantstats) |
| \`skewness\`, \`kurtosis\` | \`skew\`, \`kurtosis\` | – | – | |
| \`best_day\`, \`worst_day\` | \`best\`, \`worst\` | – | – | |
| \`winning_days_share\` | \`win_rate\` | – | – | quantstats leaves out days with a return of 0 |
| \`beta\` | \`greeks(r, b)["beta"]\` | \`beta(r, b)\` | \`Beta\` | |
| \`alpha\` | \`greeks(r − f, b − f)["alpha"]\` | \`alpha(r, b, risk_free=f)\` | \`Alpha\` | empyrical compounds it: ours is 252 · ((1 + theirs)^(1/252) − 1). LEAN: of compounded annual returns |
| \`information_ratio\` | \`information_ratio\` | \`excess_sharpe\` | \`InformationRatio\` | Per day in quantstats and empyrical: ours is √252 of it. LEAN: of compounded annual returns |
| \`win_rate\`, \`profit_factor\`, \`payoff_ratio\` | – | – | \`WinRate\`, –, \`ProfitLossRatio\` | Of round trips here, of trades in LEAN, of days in quantstats |

r is a model's column, b the benchmark's, f the risk-free rate per day.

## Sources

- Acerbi and Tasche 2002, *On the Coherence of Expected Shortfall*. Bacon 2008, *Practical Portfolio Performance Measurement and Attribution*.
- Bailey and López de Prado 2012, *The Sharpe Ratio Efficient Frontier*; 2014, *The Deflated Sharpe Ratio*. Cohen 1988, *Statistical Power Analysis*.
- CRSP, *Data Definitions*: holding period return. DeMiguel, Garlappi and Uppal 2009, *Optimal Versus Naive Diversification*. Dormeier 2011, *Investing with Volume Analysis*.
- Gelman et al. 2013, *Bayesian Data Analysis*. GIPS: CFA Institute, *Global Investment Performance Standards*. Grinold and Kahn 1999, *Active Portfolio Management*.
- Grundy and Martin 2001, *Understanding the Nature of the Risks and the Source of the Rewards to Momentum Investing*. Holm 1979, *A Simple Sequentially Rejective Multiple Test Procedure*.
- Howard, Ramdas, McAuliffe and Sekhon 2021, *Time-uniform, Nonparametric, Nonasymptotic Confidence Sequences*. Hyndman and Fan 1996, *Sample Quantiles in Statistical Packages*.
- Jensen 1968, *The Performance of Mutual Funds*. Joanes and Gill 1998, *Comparing Measures of Sample Skewness and Kurtosis*. Jorion 2007, *Value at Risk*.
- Newey and West 1987, *A Simple, Positive Semi-definite Covariance Matrix*; 1994, *Automatic Lag Selection*. Pearson 1896, *Regression, Heredity, and Panmixia*. Priestley 1981, *Spectral Analysis and Time Series*.
- Robbins 1970, *Statistical Methods Related to the Law of the Iterated Logarithm*. S&P Dow Jones Indices, *Index Mathematics Methodology*. Satterthwaite 1946, *Approximate Distribution of Estimates of Variance Components*.
- Sharpe 1994, *The Sharpe Ratio*. Sortino and van der Meer 1991, *Downside Risk*. Student 1908, *The Probable Error of a Mean*. Vince 1992, *The Mathematics of Money Management*.
- Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas 2024, *Time-uniform Central Limit Theory*. Welch 1947, *The Generalization of “Student’s” Problem*. Wilson and Hilferty 1931, *The Distribution of Chi-square*. Young 1991, *Calmar Ratio*.
`;

export function metricsPage(): string {
  const groups = metricGroups.map(({ title, place, missing, metrics }) => {
    const note = notes[title];
    return [
      `## ${title}`,
      `In ${place}.${missing === undefined ? '' : ` Null ${missing}, unless the item says otherwise.`}`,
      metrics.map(metricItem).join('\n'),
      ...(note === undefined ? [] : [note]),
    ].join('\n\n');
  });
  return [
    '# Metrics',
    'For readers of results: the definition of every metric of `GET /performance`, `GET /comparison` and the pages, with unit and source.',
    'Each item begins with the label on the pages and, in brackets, the name in responses. `unavailable` in a response says why a metric is null.',
    start,
    ...groups,
    end,
  ].join('\n\n');
}
