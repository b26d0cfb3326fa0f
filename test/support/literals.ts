/**
 * The texts of a source's string literals, with `…` for each `${}`, and the lines where they begin;
 * literals joined by `+` are one. Comments and regular expressions are left out.
 */
export function literalsOf(source: string): { line: number; text: string }[] {
  const found: { at: number; text: string }[] = [];
  let joined = -1;
  readCode(0);
  return found
    .sort((one, other) => one.at - other.at)
    .map(({ at, text }) => ({ line: source.slice(0, at).split('\n').length, text }));

  /** Reads up to the brace that closes a `${`, or to the end; returns the place after it. */
  function readCode(start: number): number {
    let [at, depth, before] = [start, 0, ''];
    while (at < source.length) {
      const char = source[at] ?? '';
      const rest = source.slice(at, at + 2);
      if (rest === '//' || rest === '/*') {
        const end = source.indexOf(rest === '//' ? '\n' : '*/', at);
        at = end === -1 ? source.length : end + (rest === '//' ? 0 : 2);
        continue;
      }
      if (/\s/.test(char)) {
        at += 1;
        continue;
      }
      if (/['"`]/.test(char)) {
        const isContinued = before === '+' && joined !== -1;
        at = readLiteral(at, isContinued ? joined : found.push({ at, text: '' }) - 1);
        before = char;
        continue;
      }
      if (char === '/' && /^$|[=(,:[!&|?{};>]|return$/.test(before)) {
        at = endOfPattern(at);
        before = '/';
        continue;
      }
      if (char === '}' && depth === 0 && start > 0) return at + 1;
      depth += char === '{' ? 1 : char === '}' ? -1 : 0;
      const [word = char] = /^\w+/.exec(source.slice(at, at + 40)) ?? [];
      if (char !== '+') joined = -1;
      before = word;
      at += word.length;
    }
    return at;
  }

  function readLiteral(start: number, place: number): number {
    const quote = source[start];
    let [at, text] = [start + 1, ''];
    while (at < source.length && source[at] !== quote) {
      if (quote === '`' && source.startsWith('${', at)) {
        text += '…';
        at = readCode(at + 2);
        continue;
      }
      if (source[at] === '\\') {
        const next = source[at + 1] ?? '';
        text += next === 'n' ? '\n' : next === '\n' ? '' : next;
        at += 2;
        continue;
      }
      text += source[at];
      at += 1;
    }
    const literal = found[place];
    if (literal !== undefined) literal.text += text;
    joined = place;
    return at + 1;
  }

  function endOfPattern(start: number): number {
    let [at, isInClass] = [start + 1, false];
    while (at < source.length && (isInClass || source[at] !== '/')) {
      if (source[at] === '[') isInClass = true;
      if (source[at] === ']') isInClass = false;
      at += source[at] === '\\' ? 2 : 1;
    }
    return at + 1;
  }
}
