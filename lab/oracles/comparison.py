"""What GET /comparison says of test/fixtures/comparison/returns.json, from numpy, scipy and statsmodels.

python3 lab/oracles/comparison.py < test/fixtures/comparison/returns.json > test/fixtures/comparison/expected.json
"""

import json
import math
import sys

import numpy as np
from scipy import optimize, stats
from statsmodels.api import OLS
from statsmodels.stats.multitest import multipletests

TRIALS = 7
ALPHA = 0.05

file = json.load(sys.stdin)
dates = file["days"]
present = {run: [day not in file["missing"].get(run, []) for day in dates] for run in file["returns"]}


def start(run, day):
    """The day before that the run has; a return starts at its close."""
    before = [index for index in range(day) if present[run][index]]
    return before[-1] if before else -1


days = [
    day
    for day in range(len(dates))
    if all(present[run][day] for run in present) and len({start(run, day) for run in present}) == 1
]
D = len(days)
logs = {run: np.log1p([file["returns"][run][day] for day in days]) for run in file["returns"]}
runs = {}
for run in logs:
    runs.setdefault(run.split("#")[0], []).append(run)
mean_run = {model: np.mean([logs[run] for run in own], axis=0) for model, own in runs.items()}
L = math.floor(4 * (D / 100) ** (2 / 9))
weights = 1 - np.arange(1, L + 1) / (L + 1)
nu_days = D / (1 + 2 * np.sum(weights**2)) - 1


def boundary(alpha):
    a = -2 * math.log(alpha)
    rho2 = (a + math.log(a) + 1) / 120
    return math.sqrt((1 + 1 / (D * rho2)) * math.log((D * rho2 + 1) / alpha**2)) if rho2 > 0 else math.inf


def variance_of_days(series):
    fit = OLS(series, np.ones(D)).fit(cov_type="HAC", cov_kwds={"maxlags": L, "use_correction": True})
    return float(fit.cov_params()[0, 0])


def measure(series, models):
    of_days = variance_of_days(series)
    parts = [np.var([np.mean(logs[run]) for run in runs[model]], ddof=1) / len(runs[model]) if len(runs[model]) > 1 else 0 for model in models]
    total = of_days + sum(parts)
    terms = sum(part**2 / (len(runs[model]) - 1) for part, model in zip(parts, models) if part > 0)
    return {"mean": float(np.mean(series)), "days": of_days, "total": total, "runs": sum(parts), "parts": [(part, len(runs[model])) for part, model in zip(parts, models) if part > 0], "nu": total**2 / (of_days**2 / nu_days + terms)}


def interval(m, quantile):
    reach = quantile * math.sqrt(m["total"])
    return {"low": math.expm1(D * (m["mean"] - reach)), "high": math.expm1(D * (m["mean"] + reach))}


def quantiles(nu):
    return {"once": stats.t.isf(ALPHA / 2, nu), "daily": stats.t.isf(stats.norm.sf(boundary(ALPHA)), nu)}


def p_daily(m):
    tail = stats.t.sf(abs(m["mean"]) / math.sqrt(m["total"]), m["nu"])
    reached = stats.norm.isf(tail)
    lowest = optimize.minimize_scalar(boundary, bounds=(1e-6, 0.87), method="bounded", options={"xatol": 1e-12}).x
    if boundary(lowest) >= reached:
        return 1.0
    return float(optimize.brentq(lambda alpha: boundary(alpha) - reached, 1e-150, lowest, xtol=1e-160, rtol=1e-14))


DRAWS = stats.norm.cdf(np.array(np.meshgrid(*[stats.norm.ppf((np.arange(25) + 0.5) / 25)] * 3)).reshape(3, -1))


def detection(m, looks):
    """How many true standard errors show at this level with 80 % power, over exact quantiles of the parts of the variance."""
    bias = 1 - 2 * np.sum(weights * (D - np.arange(1, L + 1))) / (D * (D - 1))
    parts = [(m["days"], nu_days, bias), *((part, runs - 1, 1) for part, runs in m["parts"])]
    total = sum(part for part, _, _ in parts)
    if total**2 / sum(part**2 / nu for part, nu, _ in parts) < 3:
        return math.inf
    drawn = [part * b * stats.chi2.ppf(draw, nu) / nu for (part, nu, b), draw in zip(parts, DRAWS)]
    estimate = sum(drawn)
    nus = estimate**2 / sum(own**2 / nu for own, (_, nu, _) in zip(drawn, parts))
    reach = stats.t.isf(ALPHA / 2 if looks == "once" else stats.norm.sf(boundary(ALPHA)), nus) * np.sqrt(estimate / total)
    return optimize.brentq(lambda errors: np.mean(stats.norm.cdf(errors - reach)) - 0.8, 0, 1e4)


def smallest(m, looks):
    z = detection(m, looks)
    return math.expm1(D * z * math.sqrt(m["total"])) if z < math.inf else None


def sharpe(series):
    return float(np.mean(series) / np.std(series, ddof=1))


def probabilistic(series, against):
    ratio = sharpe(series)
    skew, kurtosis = stats.skew(series), stats.kurtosis(series, fisher=False)
    return float(stats.norm.cdf((ratio - against) * math.sqrt(D - 1) / math.sqrt(1 - skew * ratio + (kurtosis - 1) / 4 * ratio**2)))


names = list(runs)
measured = {model: measure(mean_run[model], [model]) for model in names}
pairs = [(one, other) for index, one in enumerate(sorted(names)) for other in sorted(names)[index + 1 :]]
differences = {pair: measure(mean_run[pair[0]] - mean_run[pair[1]], pair) for pair in pairs}
p_once = [2 * stats.t.sf(abs(m["mean"]) / math.sqrt(m["total"]), m["nu"]) for m in differences.values()]
p_values = {"once": p_once, "daily": [p_daily(m) for m in differences.values()]}
covariance = [
    [
        measured[one]["total"]
        if one == other
        else (measured[one]["total"] + measured[other]["total"] - differences[tuple(sorted((one, other)))]["total"]) / 2
        for other in sorted(names)
    ]
    for one in sorted(names)
]
draws = np.random.default_rng(1).multivariate_normal([measured[model]["mean"] for model in sorted(names)], covariance, 2_000_000)
best = np.bincount(np.argmax(draws, axis=1), minlength=len(names)) / len(draws)
ratios = {model: sharpe(mean_run[model]) for model in names}
leader = max(ratios, key=ratios.get)
gamma = 0.5772156649
expected_best = float(np.std(list(ratios.values()), ddof=1)) * ((1 - gamma) * stats.norm.isf(1 / TRIALS) + gamma * stats.norm.isf(1 / (TRIALS * math.e)))


def report(looks):
    holm = multipletests(p_values[looks], method="holm")[1]
    return {
        "boundary": None if looks == "once" else boundary(ALPHA),
        "models": [
            {
                "model": model,
                "runReturns": [math.expm1(float(np.sum(logs[run]))) for run in runs[model]],
                "totalReturn": math.expm1(D * measured[model]["mean"]),
                **interval(measured[model], quantiles(measured[model]["nu"])[looks]),
                "standardErrorDaily": math.sqrt(measured[model]["total"]),
                "degreesOfFreedom": measured[model]["nu"],
                "varianceShareOfRuns": measured[model]["runs"] / measured[model]["total"],
                "probabilityBest": float(best[sorted(names).index(model)]),
            }
            for model in names
        ],
        "pairs": [
            {
                "model": one,
                "against": other,
                "difference": math.expm1(D * m["mean"]),
                **interval(m, quantiles(m["nu"])[looks]),
                "meanDailyDifference": m["mean"],
                "standardErrorDaily": math.sqrt(m["total"]),
                "degreesOfFreedom": m["nu"],
                "pValue": float(p_values[looks][index]),
                "pValueHolm": float(holm[index]),
                "smallestDifference": smallest(m, looks),
                "varianceShareOfRuns": m["runs"] / m["total"],
            }
            for index, ((one, other), m) in enumerate(differences.items())
        ],
    }


def line(x, y):
    fit = OLS(mean_run[y], np.column_stack([np.ones(D), mean_run[x]])).fit(
        cov_type="HAC", cov_kwds={"maxlags": L, "use_correction": True}
    )
    return {
        "x": x,
        "y": y,
        "intercept": float(fit.params[0]),
        "slope": float(fit.params[1]),
        "interceptError": float(fit.bse[0]),
        "slopeError": float(fit.bse[1]),
        "pValue": float(2 * stats.t.sf(abs(fit.params[0]) / fit.bse[0], D - 2)),
    }


json.dump(
    {
        "days": D,
        "once": report("once"),
        "daily": report("daily"),
        "covariance": covariance,
        "series": {model: [float(value) for value in mean_run[model]] for model in names},
        "lines": [line(x, y) for x, y in pairs],
        "leader": {
            "model": leader,
            "sharpeRatioDaily": ratios[leader],
            "probabilisticSharpeRatio": probabilistic(mean_run[leader], 0),
            "deflatedSharpeRatio": probabilistic(mean_run[leader], expected_best),
            "expectedBestSharpeRatioDaily": expected_best,
            "trials": TRIALS,
        },
    },
    sys.stdout,
    indent=1,
)
print()
