/** A path pattern: literal segments and `{name}` parameters. */
export interface RoutePattern {
  method: string;
  path: string;
}

/**
 * What a method and path lead to. Without `params` the path is known but has other methods, those in `allowed`; `route`
 * is then one of them.
 */
export type Match<Route> = { route: Route; params: Record<string, string> } | { route: Route; allowed: string[] };

export type Router<Route> = (method: string, path: string) => Match<Route> | null;

/**
 * Builds a pure function from method and (still percent-encoded) path to a route; null for an unknown path. HEAD is
 * served by GET. Throws a `URIError` for broken percent-encoding.
 */
export function createRouter<Route extends RoutePattern>(routes: readonly Route[]): Router<Route> {
  const patterns = routes.map((route) => ({ route, segments: route.path.split('/') }));
  return (method, path) => {
    // Decoded after the cut, so that an encoded slash stays part of its segment.
    const segments = path.split('/').map((segment) => (segment.includes('%') ? decodeURIComponent(segment) : segment));
    const candidates = patterns.filter((pattern) => fits(pattern.segments, segments));
    const wanted = method === 'HEAD' ? 'GET' : method;
    const found = candidates.find(({ route }) => route.method === wanted);
    if (found !== undefined) return { route: found.route, params: paramsOf(found.segments, segments) };
    const [first] = candidates;
    if (first === undefined) return null;
    return {
      route: first.route,
      allowed: candidates.flatMap(({ route }) => (route.method === 'GET' ? ['GET', 'HEAD'] : [route.method])),
    };
  };
}

function fits(pattern: readonly string[], segments: readonly string[]): boolean {
  return (
    pattern.length === segments.length &&
    pattern.every((part, index) => (isParameter(part) ? segments[index] !== '' : part === segments[index]))
  );
}

function paramsOf(pattern: readonly string[], segments: readonly string[]): Record<string, string> {
  const entries = pattern.flatMap((part, index) =>
    isParameter(part) ? [[part.slice(1, -1), segments[index] as string]] : [],
  );
  return Object.fromEntries(entries);
}

function isParameter(part: string): boolean {
  return part.startsWith('{');
}
