import { studentTCdf, studentTQuantile, studentTUpperTail } from './student-t.ts';

/**
 * The standard normal distribution: Student's t with so many degrees of freedom that they change no
 * digit. A division by a power of two loses none.
 */

const DEGREES_OF_FREEDOM = 2 ** 100;

/** P(Z ≤ z), accurate relative to the tail it is in. */
export function normalCdf(z: number): number {
  return studentTCdf(z, DEGREES_OF_FREEDOM);
}

/** P(Z > z), accurate relative to the tail it is in. */
export function normalUpperTail(z: number): number {
  return studentTUpperTail(z, DEGREES_OF_FREEDOM);
}

/** The z with P(Z ≤ z) = probability; infinite at 0 and 1. */
export function normalQuantile(probability: number): number {
  return studentTQuantile(probability, DEGREES_OF_FREEDOM);
}
