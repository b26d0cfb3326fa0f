import { type Header, namesOf, splitRow } from './lines.ts';

/** One symbol of a file, and the names of its columns; those of other symbols are empty. */
export interface Panel {
  symbol: string;
  names: string[];
}

/**
 * A table of yfinance as pandas writes it since 0.2.51: a line with the fields, one with the
 * symbols, in either order, and one with only the name of the dates; then the columns of all
 * symbols side by side. Null for any other file.
 */
export function takePanels(header: Header): { panels: Panel[]; header: Header } | null {
  const { line, separator, rest } = header;
  const [second = '', third = ''] = rest.lines;
  const [dates = '', ...others] = splitRow(third.trim(), separator);
  if (!/^date(time)?$/i.test(dates) || others.length === 0 || others.some((cell) => cell !== ''))
    return null;
  const lines = [line, second.trim()];
  const ofFields = lines.findIndex((text) => {
    const names = namesOf(text, separator);
    return names.includes('open') && names.includes('close');
  });
  if (ofFields === -1) return null;
  const fields = namesOf(lines[ofFields] ?? '', separator);
  const symbols = splitRow(lines[1 - ofFields] ?? '', separator);
  const panels = [...new Set(symbols.slice(1))].map((symbol) => ({
    symbol,
    names: fields.map((name, at) => (at === 0 ? 'date' : symbols[at] === symbol ? name : '')),
  }));
  const left = { ...rest, firstLine: rest.firstLine + 2, lines: rest.lines.slice(2) };
  return { panels, header: { ...header, names: fields, rest: left } };
}
