import assert from 'node:assert/strict';

/** The element at an index that a list must have. Too slow for the innermost loops over numbers. */
export function at<Element>(list: ArrayLike<Element>, index: number): Element {
  const element = list[index];
  assert(element !== undefined, 'the index is within the list');
  return element;
}
