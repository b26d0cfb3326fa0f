"""Positions after target weights by bt 1.4.1 (pip install bt): the constants of test/trading/rebalance.test.ts.

Whole shares, no costs, 10,000 dollars; weights of two days at the prices of each.
"""

import bt
import pandas

DAYS = pandas.to_datetime(["2025-01-06", "2025-01-07", "2025-01-08"])
PRICES = pandas.DataFrame(
    {
        "AA": [101.25, 103.50, 99.75],
        "BB": [48.20, 47.10, 51.30],
        "CC": [250.00, 244.40, 261.90],
        "DD": [12.35, 12.90, 11.80],
    },
    index=DAYS,
)
WEIGHTS = pandas.DataFrame(
    {"AA": [0.25, 0.10, 0.40], "BB": [0.25, 0.50, 0.0], "CC": [0.25, 0.15, 0.35], "DD": [0.20, 0.25, 0.25]},
    index=DAYS,
)

strategy = bt.Strategy("weights", [bt.algos.WeighTarget(WEIGHTS), bt.algos.Rebalance()])
test = bt.Backtest(strategy, PRICES, initial_capital=10_000, integer_positions=True, commissions=lambda q, p: 0)
bt.run(test)
print(test.positions.loc[DAYS].astype(int).values.tolist())
