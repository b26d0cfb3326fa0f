import type { TestContext } from 'node:test';

/** Sets variables of this process, which children inherit, for the length of a test. */
export function setVariables(t: TestContext, variables: Record<string, string>): void {
  for (const [name, value] of Object.entries(variables)) {
    process.env[name] = value;
    t.after(() => delete process.env[name]);
  }
}
