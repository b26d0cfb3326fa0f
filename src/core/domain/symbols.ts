/**
 * Ticker symbols as the world's exchanges write them: `AAPL`, `BRK-B`, `600519.SH`. Upper case, at
 * most 20 characters.
 */
export const SYMBOL_PATTERN = /^[A-Z0-9^][A-Z0-9.^=-]{0,19}$/;

/** The same in either case, with spaces at the ends, as people and programs write it. */
export const SYMBOL_TEXT = /^\s*[A-Za-z0-9^][A-Za-z0-9.^=-]{0,19}\s*$/;

/** The symbol in its stored form, or null when the text cannot be one. */
export function normaliseSymbol(text: string): string | null {
  return SYMBOL_TEXT.test(text) ? text.trim().toUpperCase() : null;
}
