import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Route } from '#api/route.ts';
import type { ServedSettings } from '#settings/settings.ts';
import type { HttpError } from './errors.ts';

/**
 * A path for browsers. It is not part of the JSON API, so the interface description leaves it out;
 * it needs no token.
 */
export interface PageRoute {
  method: 'GET';
  path: string;
  isPublic: true;
  bareErrors?: never;
  send: (request: IncomingMessage, response: ServerResponse) => void;
}

export interface Pages {
  routes: PageRoute[];
  /**
   * Sends the page for an unknown path, with a link back; undefined when the program was not built.
   */
  sendMissing:
    | ((request: IncomingMessage, response: ServerResponse, error: PageError) => void)
    | undefined;
}

export type PageError = Pick<HttpError, 'status' | 'headers'>;

/** What the pages say of their server from the first moment. */
export interface PagesMode {
  settings: Pick<ServedSettings, 'deploymentMode' | 'preserveDevData'>;
  viewedFile: string | null;
  isFixed: boolean;
}

/** What a server offers: the routes of the API, and the pages, which say what they show. */
export interface Application {
  routes: readonly Route[];
  createPages(mode: PagesMode): Pages;
}
