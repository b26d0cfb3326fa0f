import { get } from '../api.ts';
import { h, replace } from '../element.ts';
import { type Page, heading } from '../router.ts';
import { table } from '../table.ts';
import { link } from '../ui.ts';

/** The interface from its own description: each operation, its parameters, and how curl asks it. */
export const showReference: Page = async (host, _params, signal) => {
  const content = h('div.stack');
  replace(host, heading('API'), content);
  const { info, tags, paths } = (await get('/openapi.json', '', signal)) as Description;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, method, path })),
  );
  const groups = tags.map(({ name, description }) =>
    h(
      'div.operations',
      h('h2', name),
      h('p', description),
      ...operations.filter((operation) => operation.tags.includes(name)).map(operationView),
    ),
  );
  replace(
    content,
    h('p', info.description, ' ', h('span.quiet', `Version ${info.version}.`)),
    h(
      'p',
      link('/openapi.json', '/openapi.json'),
      ' describes every field of every response. Tools for OpenAPI 3.1 generate clients from it.',
    ),
    ...groups,
  );
};

function operationView(endpoint: Endpoint): HTMLElement {
  const { method, path, operationId: id, summary, description, parameters } = endpoint;
  return h(
    'details.operation',
    { id },
    h(
      'summary',
      h(`span.method.${method}`, method.toUpperCase()),
      h('code', path),
      h('span', summary),
    ),
    h('p', description),
    parameters.length > 0 &&
      table({
        caption: 'Parameters',
        rows: parameters,
        columns: [
          { title: 'Parameter', isName: true, cell: ({ name }) => h('code', name) },
          {
            title: 'In',
            cell: ({ in: place, required }) => place + (required ? ', required' : ''),
          },
          { title: 'Meaning', cell: ({ description }) => description, look: () => 'quiet note' },
        ],
      }),
    h('pre', { tabindex: 0 }, curlCommand(endpoint)),
  );
}

/** The request as a command for a shell, with the body of the description's example, or an empty one. */
function curlCommand({ method, path, requestBody }: Endpoint): string {
  const named = path.replace(/\{(\w+)\}/g, (_part, name: string) => name.toUpperCase());
  const verb = method === 'get' ? '' : ` -X ${method.toUpperCase()}`;
  const body = JSON.stringify(requestBody?.content['application/json']?.example ?? {});
  const sent = requestBody && ` \\\n  -H 'content-type: application/json' \\\n  -d '${body}'`;
  return `curl${verb} '${location.origin}${named}'${sent ?? ''}`;
}

/** The part of an OpenAPI 3.1 document that this page reads. */
interface Description {
  info: { version: string; description?: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
}

interface Operation {
  summary: string;
  description: string;
  operationId: string;
  tags: string[];
  parameters: Parameter[];
  requestBody?: { content: Record<string, { example?: unknown }> };
}

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
}

/** An operation with its method, in lower case, and its path. */
interface Endpoint extends Operation {
  method: string;
  path: string;
}
