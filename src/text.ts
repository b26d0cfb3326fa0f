/** One line of text from outside: control characters, lone surrogates and reversed writing are out, white space is folded. */
export function cleanText(text: string): string {
  return text
    .replace(/[\p{Cs}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
}

/** The text in at most that many UTF-16 units; `…` stands for what was cut, and no character is cut in two. */
export function cutText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const kept = text.slice(0, maxLength - 1).replace(/\p{Cs}$/u, '');
  return `${kept.trimEnd()}…`;
}
