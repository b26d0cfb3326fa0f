/** Longer expressions are refused, which also bounds the depth of the recursion. */
export const MAX_EXPRESSION_LENGTH = 500;

const TOKEN =
  /\s*(?:(\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?)|([a-z]+)|(\*\*|[-+*/%^(),]))/iy;

const { abs, ceil, floor, max, min, round, sqrt } = Math;
const functions = new Map<string, (...values: number[]) => number>(
  Object.entries({ abs, ceil, floor, max, min, round, sqrt }),
);

type Token = number | string;

/** Digits of a power whose exponent is not whole; those after them depend on the machine. */
const CERTAIN_DIGITS = 15;

/**
 * The same digits in every program: a whole exponent multiplies, by squares from its lowest bit up,
 * and a negative one divides 1 by that; any other power is rounded to 15 significant digits.
 */
function raise(base: number, exponent: number): number {
  if (!Number.isInteger(exponent)) return Number((base ** exponent).toPrecision(CERTAIN_DIGITS));
  let result = 1;
  let square = base;
  for (let rest = Math.abs(exponent); rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result *= square;
    square *= square;
  }
  return exponent < 0 ? 1 / result : result;
}

/**
 * Evaluates arithmetic: numbers, `+ - * / %`, `^` or `**`, parentheses and a few functions. Throws
 * an `Error` whose message a model can act on. The text is never run as code.
 */
export function calculate(expression: string): number {
  if (expression.length > MAX_EXPRESSION_LENGTH)
    throw new Error(`the expression is longer than ${MAX_EXPRESSION_LENGTH} characters`);
  const tokens = tokenise(expression);
  const result = sum(tokens);
  if (tokens.length > 0) throw new Error(`unexpected '${tokens[0]}'`);
  if (!Number.isFinite(result)) throw new Error('the result is not a finite number');
  return result;
}

function tokenise(expression: string): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  const end = expression.trimEnd().length;
  while (TOKEN.lastIndex < end) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(expression);
    if (match === null) throw new Error(`unexpected '${expression.slice(at).trimStart()[0]}'`);
    const [, number, name, operator = ''] = match;
    tokens.push(
      number !== undefined
        ? Number(number)
        : (name?.toLowerCase() ?? (operator === '**' ? '^' : operator)),
    );
  }
  return tokens;
}

function sum(tokens: Token[]): number {
  let value = product(tokens);
  for (let operator: string | undefined; (operator = take(tokens, '+', '-')); ) {
    const right = product(tokens);
    value = operator === '+' ? value + right : value - right;
  }
  return value;
}

function product(tokens: Token[]): number {
  let value = signed(tokens);
  for (let operator: string | undefined; (operator = take(tokens, '*', '/', '%')); ) {
    const right = signed(tokens);
    value = operator === '*' ? value * right : operator === '/' ? value / right : value % right;
  }
  return value;
}

function signed(tokens: Token[]): number {
  const sign = take(tokens, '-', '+');
  if (sign === '-') return -signed(tokens);
  return sign === '+' ? signed(tokens) : power(tokens);
}

function power(tokens: Token[]): number {
  const base = operand(tokens);
  return take(tokens, '^') ? raise(base, signed(tokens)) : base;
}

function operand(tokens: Token[]): number {
  const token = tokens.shift();
  if (typeof token === 'number') return token;
  if (token === undefined) throw new Error('the expression ends too early');
  if (token === '(') {
    const value = sum(tokens);
    expect(tokens, ')');
    return value;
  }
  const apply = functions.get(token);
  if (apply === undefined) throw new Error(`unexpected '${token}'`);
  expect(tokens, '(');
  const values = [sum(tokens)];
  while (take(tokens, ',')) values.push(sum(tokens));
  expect(tokens, ')');
  return apply(...values);
}

function take(tokens: Token[], ...wanted: string[]): string | undefined {
  const [first] = tokens;
  if (typeof first !== 'string' || !wanted.includes(first)) return undefined;
  tokens.shift();
  return first;
}

function expect(tokens: Token[], wanted: string): void {
  const token = tokens.shift();
  if (token !== wanted)
    throw new Error(
      token === undefined ? `a '${wanted}' is missing` : `expected '${wanted}', got '${token}'`,
    );
}
