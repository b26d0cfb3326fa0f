import * as library from './library.ts';

/** The arithmetic of figures. The build replaces this file by its packed code, as `comparison/packed.ts`. */
export function performanceLibrary(): typeof library {
  return library;
}
