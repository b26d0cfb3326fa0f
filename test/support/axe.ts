import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const PROGRAM = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * What axe-core looks for: WCAG 2.2 up to AA, and its own rules, such as landmarks and the order of
 * headings.
 */
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

interface Violation {
  id: string;
  impact: string;
  nodes: { html: string; failureSummary: string }[];
}

/** A tab of any browser. */
interface Tab {
  evaluate<Result>(script: string): Promise<Result>;
}

/** What axe-core finds on a page as it is now, of any impact, a line each. */
export async function obstacles(page: Tab): Promise<string[]> {
  await page.evaluate(`window.axe ? null : (() => { ${PROGRAM} })()`);
  const run = `axe.run(document, { runOnly: ${JSON.stringify(TAGS)}, resultTypes: ['violations'] })`;
  const { violations } = await page.evaluate<{ violations: Violation[] }>(run);
  return violations.map(({ id, impact, nodes }) => {
    const [first] = nodes;
    return `${impact}: ${id}, ${nodes.length} times, first ${first?.html.slice(0, 200)}: ${first?.failureSummary.replaceAll('\n', ' ')}`;
  });
}
