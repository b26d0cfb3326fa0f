import { ServiceError } from '../domain.ts';

/** Talks to a running service as any client would. */
export interface Client {
  get(path: string): Promise<unknown>;
  post(path: string, body: unknown): Promise<unknown>;
}

/** Answers other than 200 are thrown with the service's own words. `token` is null where the service needs none. */
export function createClient(baseUrl: string, token: string | null): Client {
  const access = token === null ? {} : { authorization: `Bearer ${token}` };
  const ask = async (path: string, init: RequestInit = {}): Promise<unknown> => {
    const response = await fetch(baseUrl + path, { ...init, headers: { ...init.headers, ...access } });
    const body = (await response.json()) as { detail?: string };
    if (!response.ok)
      throw new ServiceError('bad_request', `${init.method ?? 'GET'} ${path}: ${response.status} ${body.detail}`);
    return body;
  };
  return {
    get: (path) => ask(path),
    post: (path, body) =>
      ask(path, { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  };
}
