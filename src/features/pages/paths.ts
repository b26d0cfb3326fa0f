import { pathPattern, splitPath } from '#http/path-pattern.ts';

/**
 * The paths of the pages, for the server (which sends the same HTML file for each) and for the
 * browser (which chooses the page by its path). Only a browser finds the page whose path the API
 * has too: that of a document.
 */
export const pagePaths = [
  '/',
  '/compare',
  '/models/{model}',
  '/model-days/{model}/{date}',
  '/job-list',
  '/jobs/{job_id}',
  '/decision-feed',
  '/data',
  '/documents/{id}',
  '/api',
] as const;
export type PagePath = (typeof pagePaths)[number];

/** The path of a model's page; the name becomes one segment, whatever characters it has. */
export function modelPath(model: string): string {
  return `/models/${encodeURIComponent(model)}`;
}

export function modelDayPath(model: string, date: string): string {
  return `/model-days/${encodeURIComponent(model)}/${encodeURIComponent(date)}`;
}

export function jobPath(jobId: string): string {
  return `/jobs/${encodeURIComponent(jobId)}`;
}

/** A version of a document. */
export function documentPath(id: string, version: string): string {
  return `/documents/${encodeURIComponent(id)}?version=${encodeURIComponent(version)}`;
}

/**
 * The page at a path (still percent-encoded), with its decoded parameters; null for none. A
 * trailing slash is ignored.
 */
export function matchPage(path: string): { page: PagePath; params: Record<string, string> } | null {
  const segments = splitPath(path);
  for (const page of pagePaths) {
    const params = pathPattern(page)(segments)?.map(([name, segment]) => [
      name,
      decodeSegment(segment),
    ]);
    if (params !== undefined) return { page, params: Object.fromEntries(params) };
  }
  return null;
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
