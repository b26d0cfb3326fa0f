import { pathPattern, segmentsOf } from './path-pattern.ts';

/**
 * The addresses of the pages, for the server (which answers each with the same HTML file) and for the browser (which
 * chooses the page by it). Different from every path of the API; a test holds that.
 */
export const pagePaths = ['/', '/models/{model}', '/model-days/{model}/{date}', '/jobs/{job_id}', '/api'] as const;
export type PagePath = (typeof pagePaths)[number];

/** Makes an address; each value becomes one segment, whatever characters it has. */
export function modelPath(model: string): string {
  return `/models/${encodeURIComponent(model)}`;
}

export function modelDayPath(model: string, date: string): string {
  return `/model-days/${encodeURIComponent(model)}/${encodeURIComponent(date)}`;
}

export function jobPath(jobId: string): string {
  return `/jobs/${encodeURIComponent(jobId)}`;
}

/**
 * Which page an address (still percent-encoded) leads to, with its decoded parameters; null for none. A slash at the end
 * changes nothing.
 */
export function matchPage(address: string): { page: PagePath; params: Record<string, string> } | null {
  const segments = segmentsOf(address);
  for (const page of pagePaths) {
    const params = pathPattern(page)(segments)?.map(([name, segment]) => [name, decoded(segment)]);
    if (params !== undefined) return { page, params: Object.fromEntries(params) };
  }
  return null;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
