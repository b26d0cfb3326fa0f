import fc from 'fast-check';

const SURROGATES = 0x800;
const FIRST_SURROGATE = 0xd800;

const anyCharacter = fc
  .nat({ max: 0x10ffff - SURROGATES })
  .map((place) => String.fromCodePoint(place < FIRST_SURROGATE ? place : place + SURROGATES));

/**
 * Any characters of Unicode. fast-check's `string({ unit: 'binary' })` takes a second to make a map
 * of them all.
 */
export function anyTextUpTo(maxLength: number): fc.Arbitrary<string> {
  return fc.array(anyCharacter, { maxLength }).map((characters) => characters.join(''));
}
