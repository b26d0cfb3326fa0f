import type { LedgerDay } from '../database/records/performance.ts';
import { type Money, reported, toDollars } from '../money.ts';
import { list } from '../sentences.ts';
import { mean } from '../statistics/moments.ts';
import { ratio, reportFigures } from './figure.ts';
import { type RoundTrip, holdingDaysOf, profitOf } from './lots.ts';
import type { ModelTrading, OpenPosition } from './trading.ts';

/** The response lists at most this many of a model's round trips, the latest. */
const MAX_LISTED_ROUND_TRIPS = 100;

/**
 * What a model traded, named as in the response. Turnover is the lesser of purchases and sales over
 * the mean closing value (SEC Form N-1A, item 13, but with cash counted in the value), for the
 * whole curve and not per year.
 */
export function reportTrading(
  days: readonly LedgerDay[],
  trading: ModelTrading,
  positions: readonly OpenPosition[],
) {
  const { trades, bought, sold, commission, roundTrips, fractionProfit } = trading;
  const unpriced = positions.filter(({ value }) => value === null).map(({ symbol }) => symbol);
  const unrealised = sum(positions.map(({ value, cost }) => (value ?? cost) - cost));
  return {
    trading: {
      trades,
      bought: toDollars(bought),
      sold: toDollars(sold),
      commission: toDollars(commission),
      ...reportFigures({
        realised_profit: toDollars(reported(sum(roundTrips.map(profitOf)) + fractionProfit)),
        unrealised_profit:
          unpriced.length === 0
            ? toDollars(unrealised)
            : { reason: `No price of ${list(unpriced)} is stored` },
        exposure: exposureOf(days),
        turnover: ratio(
          Math.min(bought, sold),
          mean(days.map(({ value }) => value)),
          'The portfolio was worth nothing',
        ),
      }),
    },
    round_trips: reportRoundTrips(roundTrips),
    open_positions: positions.map(reportOpenPosition),
  };
}

/** The mean fraction of the closing value that is in holdings; 0 where the value is 0. */
function exposureOf(days: readonly LedgerDay[]): number {
  return mean(days.map(({ cash, value }) => (value === 0 ? 0 : (value - cash) / value)));
}

/**
 * Win rate is the fraction of round trips with a profit above 0; profit factor is gross profit over
 * gross loss (Dormeier, Investing with Volume Analysis, 2011). Expectancy is the mean profit of a
 * round trip: win rate times average win minus the rate of losses times average loss; payoff is
 * average win over average loss (Vince, The Mathematics of Money Management, 1992). All after
 * commission, in dollars.
 */
function reportRoundTrips(trips: readonly RoundTrip[]) {
  const holdingDays = trips.map(holdingDaysOf);
  const profits = trips.map(profitOf);
  const wins = profits.filter((profit) => profit > 0);
  const losses = profits.filter((profit) => profit < 0);
  const [gained, lost] = [sum(wins), 0 - sum(losses)];
  const averageWin = ratio(toDollars(gained), wins.length, 'No round trip won');
  const averageLoss = ratio(toDollars(reported(lost)), losses.length, 'No round trip lost');
  const none = trips.length === 0 ? { reason: 'Nothing was sold' } : null;
  return {
    count: trips.length,
    profit: toDollars(sum(profits)),
    ...reportFigures({
      win_rate: none ?? wins.length / trips.length,
      profit_factor: none ?? ratio(gained, lost, 'No round trip lost'),
      average_win: none ?? averageWin,
      average_loss: none ?? averageLoss,
      expectancy: none ?? toDollars(sum(profits)) / trips.length,
      payoff_ratio: none ?? ratio(averageWin, averageLoss, 'No round trip lost'),
      mean_holding_days: none ?? mean(holdingDays),
    }),
    latest: trips.slice(-MAX_LISTED_ROUND_TRIPS).map(reportRoundTrip),
  };
}

function reportRoundTrip(trip: RoundTrip) {
  return {
    symbol: trip.symbol,
    quantity: trip.quantity,
    buy_date: trip.buyDate,
    sell_date: trip.sellDate,
    cost: toDollars(trip.cost),
    proceeds: toDollars(trip.proceeds),
    profit: toDollars(profitOf(trip)),
    holding_days: holdingDaysOf(trip),
  };
}

function reportOpenPosition({ symbol, quantity, since, cost, value }: OpenPosition) {
  return {
    symbol,
    quantity,
    since,
    cost_basis: toDollars(cost),
    value: value === null ? null : toDollars(value),
    unrealised_profit: value === null ? null : toDollars(reported(value - cost)),
  };
}

function sum(amounts: readonly number[]): Money {
  return reported(amounts.reduce((total, amount) => total + amount, 0));
}
