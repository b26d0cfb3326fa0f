import { sha256 } from '#text/hash.ts';

/** Four words of 32 bits, not all 0. */
type Words = [number, number, number, number];

/**
 * Whole numbers of 32 bits, the same for the same state on every machine: xoshiro128** (Blackman &
 * Vigna, Scrambled Linear Pseudorandom Number Generators, 2018), with a period of 2^128 − 1.
 */
export function createWords([s0, s1, s2, s3]: Words): () => number {
  return () => {
    const result = Math.imul(rotate(Math.imul(s1, 5), 7), 9) >>> 0;
    const shifted = s1 << 9;
    s2 ^= s0;
    s3 ^= s1;
    s1 ^= s2;
    s0 ^= s3;
    s2 ^= shifted;
    s3 = rotate(s3, 11);
    return result;
  };
}

function rotate(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}

/** The first 128 bits of the seed's SHA-256, so that similar seeds have nothing in common. */
function seedState(seed: string): Words {
  const hash = sha256(seed);
  return [hash.readInt32LE(0), hash.readInt32LE(4), hash.readInt32LE(8), hash.readInt32LE(12)];
}

/** Numbers from 0 up to 1, multiples of 2^-53, the same for the same seed. */
export function createUniforms(seed: string): () => number {
  const next = createWords(seedState(seed));
  return () => ((next() >>> 5) * 2 ** 26 + (next() >>> 6)) / 2 ** 53;
}

/**
 * Standard normal numbers, the same for the same seed: the polar method, which makes two at a time
 * from a point in the unit circle (Marsaglia & Bray, SIAM Review 6, 1964).
 */
export function createNormals(seed: string): () => number {
  const uniform = createUniforms(seed);
  let spare: number | null = null;
  return () => {
    if (spare !== null) {
      const kept = spare;
      spare = null;
      return kept;
    }
    for (;;) {
      const [x, y] = [2 * uniform() - 1, 2 * uniform() - 1];
      const square = x * x + y * y;
      if (square >= 1 || square === 0) continue;
      const scale = Math.sqrt((-2 * Math.log(square)) / square);
      spare = y * scale;
      return x * scale;
    }
  };
}
