import * as library from './library.ts';

/**
 * The functions of a comparison. The build replaces this file by their packed code, which is unpacked at the first call: most
 * services that start never compare, and packed it takes a third of the space.
 */
export function comparisonLibrary(): typeof library {
  return library;
}
