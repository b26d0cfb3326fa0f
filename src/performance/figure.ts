/** A figure, or a sentence that says why there is none: nothing is 0, infinite or invented for want of data. */
export type Figure = number | { reason: string };

/** Ten decimals are more than daily returns of a billion dollars tell. */
const DECIMALS = 10;

/** Numbers by name, null where there is none, and the reasons of the nulls. */
export type ToldFigures<Name extends string> = Record<Name, number | null> & {
  unavailable: Partial<Record<Name, string>>;
};

const TOO_LARGE = { reason: 'The figure is too large for a number' };

export function tellFigures<Name extends string>(figures: Record<Name, Figure>): ToldFigures<Name> {
  const entries = Object.entries<Figure>(figures).map(([name, figure]): [string, Figure] => [name, finite(figure)]);
  const numbers = entries.map(([name, figure]) => [name, typeof figure === 'number' ? rounded(figure) : null]);
  const reasons = entries.flatMap(([name, figure]) => (typeof figure === 'number' ? [] : [[name, figure.reason]]));
  return { ...Object.fromEntries(numbers), unavailable: Object.fromEntries(reasons) };
}

/** JSON has no infinity: it would be a null without a reason. */
function finite(figure: Figure): Figure {
  return typeof figure === 'number' && !Number.isFinite(figure) ? TOO_LARGE : figure;
}

export function rounded(number: number): number {
  const scale = 10 ** DECIMALS;
  if (Math.abs(number) >= Number.MAX_SAFE_INTEGER / scale) return number;
  return Math.round(number * scale) / scale + 0; // no -0
}

/** `dividend / divisor`; without a number where the divisor is not above 0. */
export function ratio(dividend: Figure, divisor: Figure, reason: string): Figure {
  if (typeof dividend !== 'number') return dividend;
  if (typeof divisor !== 'number') return divisor;
  if (divisor === Infinity) return TOO_LARGE;
  return divisor > 0 ? dividend / divisor : { reason };
}

/** `transform` of a figure, where there is one. */
export function mapFigure(figure: Figure, transform: (number: number) => number): Figure {
  return typeof figure === 'number' ? transform(figure) : figure;
}
