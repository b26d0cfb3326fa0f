"""Our figures, from what quantstats and empyrical say of the CSV of GET /performance?table=returns.

python3 lab/oracles/returns.py returns.csv YEARLY_RISK_FREE report.html

Each line of FIGURES is one of the table "Words and signs" in docs/reference/metrics.md: what has to be done to
theirs to get ours. Prints a JSON object by model, and by figure.
"""

import json
import sys
import warnings

import matplotlib

matplotlib.use("Agg")
warnings.filterwarnings("ignore")

import empyrical
import numpy
import pandas
import quantstats

path, yearly, report = sys.argv[1], float(sys.argv[2]), sys.argv[3]
table = pandas.read_csv(path, index_col=0, parse_dates=True)
benchmark = table.iloc[:, -1]
daily = (1 + yearly) ** (1 / 252) - 1

FIGURES = {
    "total_return": [lambda r, b: empyrical.cum_returns_final(r), lambda r, b: quantstats.stats.comp(r)],
    "annualised_return": [lambda r, b: empyrical.annual_return(r), lambda r, b: quantstats.stats.cagr(r)],
    "annualised_volatility": [
        lambda r, b: empyrical.annual_volatility(r),
        lambda r, b: quantstats.stats.volatility(r),
    ],
    "sharpe_ratio": [
        lambda r, b: empyrical.sharpe_ratio(r, risk_free=daily),
        lambda r, b: quantstats.stats.sharpe(r, rf=yearly),
    ],
    "sortino_ratio": [
        lambda r, b: empyrical.sortino_ratio(r, required_return=daily),
        lambda r, b: quantstats.stats.sortino(r, rf=yearly),
    ],
    "calmar_ratio": [lambda r, b: empyrical.calmar_ratio(r), lambda r, b: quantstats.stats.calmar(r)],
    "max_drawdown": [lambda r, b: -empyrical.max_drawdown(r), lambda r, b: -quantstats.stats.max_drawdown(r)],
    "value_at_risk_95": [lambda r, b: -numpy.percentile(r, 5, method="inverted_cdf")],
    "skewness": [lambda r, b: quantstats.stats.skew(r)],
    "kurtosis": [lambda r, b: quantstats.stats.kurtosis(r)],
    "best_day": [lambda r, b: quantstats.stats.best(r)],
    "worst_day": [lambda r, b: quantstats.stats.worst(r)],
    "beta": [
        lambda r, b: empyrical.beta(r, b, risk_free=daily),
        lambda r, b: quantstats.stats.greeks(r, b)["beta"],
    ],
    "alpha": [
        lambda r, b: 252 * ((1 + empyrical.alpha(r, b, risk_free=daily)) ** (1 / 252) - 1),
        lambda r, b: quantstats.stats.greeks(r - daily, b - daily)["alpha"],
    ],
    "information_ratio": [
        lambda r, b: empyrical.excess_sharpe(r, b) * 252**0.5,
        lambda r, b: quantstats.stats.information_ratio(r, b) * 252**0.5,
    ],
}

# As the table says, these differ: theirs interpolates, takes whole days, or assumes a normal distribution.
LIKE = {
    "value_at_risk_95": [
        lambda r: -empyrical.value_at_risk(r),
        lambda r: -quantstats.stats.value_at_risk(r),
    ],
    "expected_shortfall_95": [
        lambda r: -empyrical.conditional_value_at_risk(r),
        lambda r: -quantstats.stats.cvar(r, method="historical"),
    ],
}


def of(model):
    own = table[model].dropna()
    other = benchmark.loc[own.index]
    return {
        "equal": {name: [float(each(own, other)) for each in all] for name, all in FIGURES.items()},
        "like": {name: [float(each(own)) for each in all] for name, all in LIKE.items()},
    }


quantstats.reports.html(table.iloc[:, 0], benchmark=benchmark, output=report, title=table.columns[0])
print(json.dumps({model: of(model) for model in table.columns[:-1]}))
