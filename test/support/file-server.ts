import { readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import type { TestContext } from 'node:test';

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.gz': 'application/gzip',
};

/**
 * A plain file server on loopback that has a folder under a path, and nothing else: as the pages of
 * a repository are served. Returns the URL of the folder. With `isEncoded` it says of compressed files
 * that browsers should decompress them, as some servers do.
 */
export async function serveFolder(
  t: TestContext,
  folder: string,
  { path = '/some/path/', isEncoded = false } = {},
): Promise<string> {
  const server = createServer(({ url = '' }, response) => {
    const { pathname } = new URL(url, 'http://localhost');
    const name = decodeURIComponent(pathname).slice(path.length) || 'index.html';
    const file = join(folder, name);
    if (!pathname.startsWith(path) || !statSync(file, { throwIfNoEntry: false })?.isFile())
      return response.writeHead(404).end();
    const encoding = isEncoded && name.endsWith('.gz') ? { 'content-encoding': 'gzip' } : {};
    response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'text/plain', ...encoding });
    response.end(readFileSync(file));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
}
