import { after, before } from 'node:test';

/**
 * Gives the tests of the current `describe` such globals, as a browser has them, and takes them
 * back after.
 */
export function withGlobals(globals: Record<string, unknown>): void {
  let former: Map<string, PropertyDescriptor | undefined>;
  before(() => {
    former = new Map(
      Object.keys(globals).map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]),
    );
    for (const [name, value] of Object.entries(globals))
      Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  });
  after(() => {
    for (const [name, descriptor] of former) {
      if (descriptor === undefined) Reflect.deleteProperty(globalThis, name);
      else Object.defineProperty(globalThis, name, descriptor);
    }
  });
}
