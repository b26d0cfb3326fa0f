/**
 * Paths with parameters, such as `/jobs/{job_id}`: for the server's routes and for the pages in the
 * browser.
 */

/** The parameters by name, still percent-encoded; null when the path does not match. */
type PathPattern = (segments: readonly string[]) => [name: string, segment: string][] | null;

/** The parts of a path between its slashes. A trailing slash is ignored. */
export function splitPath(path: string): string[] {
  return path.replace(/(.)\/$/, '$1').split('/');
}

/** A parameter matches one segment, which must not be empty. */
export function pathPattern(path: string): PathPattern {
  const parts = splitPath(path);
  return (segments) => {
    if (segments.length !== parts.length) return null;
    const params: [string, string][] = [];
    for (const [index, segment] of segments.entries()) {
      const part = parts[index] ?? '';
      if (part.startsWith('{') && segment !== '') params.push([part.slice(1, -1), segment]);
      else if (part !== segment) return null;
    }
    return params;
  };
}
