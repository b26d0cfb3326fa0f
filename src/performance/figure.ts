/** A figure, or the reason why there is none. Missing data never becomes 0 or infinity. */
export type Figure = number | { reason: string };

/** Beyond any figure of daily returns of a billion dollars. */
const DECIMALS = 10;

/** Figures by name, null where missing, with the reasons for the nulls. */
export type ReportedFigures<Name extends string> = Record<Name, number | null> & {
  unavailable: Partial<Record<Name, string>>;
};

const TOO_LARGE = { reason: 'The figure is too large for a number' };

export function reportFigures<Name extends string>(
  figures: Record<Name, Figure>,
  round: (number: number) => number = rounded,
): ReportedFigures<Name> {
  const entries = Object.entries<Figure>(figures).map(([name, figure]): [string, Figure] => [
    name,
    finite(figure),
  ]);
  const numbers = entries.map(([name, figure]) => [
    name,
    typeof figure === 'number' ? round(figure) : null,
  ]);
  const reasons = entries.flatMap(([name, figure]) =>
    typeof figure === 'number' ? [] : [[name, figure.reason]],
  );
  return { ...Object.fromEntries(numbers), unavailable: Object.fromEntries(reasons) };
}

/** JSON has no infinity: it would become a null without a reason. */
function finite(figure: Figure): Figure {
  return typeof figure === 'number' && !Number.isFinite(figure) ? TOO_LARGE : figure;
}

export function rounded(number: number): number {
  const scale = 10 ** DECIMALS;
  if (Math.abs(number) >= Number.MAX_SAFE_INTEGER / scale) return number;
  return Math.round(number * scale) / scale + 0; // no -0
}

/** `dividend / divisor`, or the reason when the divisor is not above 0. */
export function ratio(dividend: Figure, divisor: Figure, reason: string): Figure {
  if (typeof dividend !== 'number') return dividend;
  if (typeof divisor !== 'number') return divisor;
  if (divisor === Infinity) return TOO_LARGE;
  return divisor > 0 ? dividend / divisor : { reason };
}

/** Applies `transform` to a figure; a missing one keeps its reason. */
export function mapFigure(figure: Figure, transform: (number: number) => number): Figure {
  return typeof figure === 'number' ? transform(figure) : figure;
}
