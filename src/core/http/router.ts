import assert from 'node:assert/strict';
import { pathPattern, splitPath } from './path-pattern.ts';

/** A path pattern: literal segments and `{name}` parameters. */
interface RoutePattern {
  method: string;
  path: string;
}

/**
 * The match of a method and path. Without `params` the path is known but only for the methods in
 * `allowed`; `route` is one of theirs.
 */
export type Match<Route> =
  | { route: Route; params: Record<string, string> }
  | { route: Route; allowed: string[] };

export type Router<Route> = (method: string, path: string) => Match<Route> | null;

/**
 * Builds a pure function from method and (still percent-encoded) path to a route; null for an
 * unknown path. A trailing slash is ignored. HEAD is served by GET. Throws a `URIError` for broken
 * percent-encoding in a parameter.
 */
export function createRouter<Route extends RoutePattern>(routes: readonly Route[]): Router<Route> {
  const byPath = Map.groupBy(routes, ({ path }) => path);
  const patterns = [...byPath]
    .filter(([path]) => path.includes('{'))
    .map(([path, candidates]) => ({ paramsIn: pathPattern(path), candidates }));
  return (method, path) => {
    const plain = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
    const exact = byPath.get(plain);
    if (exact !== undefined) return choose(exact, method, {});
    const segments = splitPath(plain);
    for (const { paramsIn, candidates } of patterns) {
      const params = paramsIn(segments)?.map(([name, segment]) => [
        name,
        decodeURIComponent(segment),
      ]);
      if (params !== undefined) return choose(candidates, method, Object.fromEntries(params));
    }
    return null;
  };
}

function choose<Route extends RoutePattern>(
  candidates: readonly Route[],
  method: string,
  params: Record<string, string>,
): Match<Route> {
  const wanted = method === 'HEAD' ? 'GET' : method;
  const route = candidates.find((candidate) => candidate.method === wanted);
  if (route !== undefined) return { route, params };
  const methods = candidates.map((candidate) => candidate.method);
  const allowed = methods.flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : [name]));
  const [first] = candidates;
  assert(first !== undefined, 'every path has a route');
  return { route: first, allowed };
}
