/** Part of a text, and whether it is a match. */
export interface Piece {
  text: string;
  isMatch: boolean;
}

/** An excerpt in pieces; the places of its matches are counted in Unicode characters. */
export function piecesOf(excerpt: string, matches: readonly (readonly number[])[]): Piece[] {
  const characters = [...excerpt];
  const pieces: Piece[] = [];
  let end = 0;
  for (const [start = 0, length = 0] of matches) {
    pieces.push({ text: characters.slice(end, start).join(''), isMatch: false });
    end = start + length;
    pieces.push({ text: characters.slice(start, end).join(''), isMatch: true });
  }
  pieces.push({ text: characters.slice(end).join(''), isMatch: false });
  return pieces.filter(({ text }) => text !== '');
}
