import type { Server } from './side.ts';

/**
 * Every GET that the program describes, as JSON and CSV, with every parameter: made from its own
 * description, so none is missed.
 */

/** What exists in what is shown. Of the models, only the last may have a name with signs. */
export interface Known {
  job: string;
  models: readonly [string, string, string];
  first: string;
  last: string;
}

interface Parameter {
  name: string;
  in: string;
  schema: { enum?: string[]; type?: string };
}

/** What a request needs before anything else. */
const needed: Record<string, (known: Known) => string> = {
  '/search': () => 'q=trade',
  '/holdings': ({ models: [one] }) => `model=${encodeURIComponent(one)}`,
};

const UNKNOWN_JOB = '00000000-0000-4000-8000-000000000000';
const encoded = (names: readonly string[]) => names.map(encodeURIComponent).join(',');
const dates = ({ first }: Known) => [first, '2025-02-30', '1899-01-01', '2001-01-01', ''];
const names = ({ models }: Known) => [
  encoded(models.slice(0, 2)),
  encoded(models.slice(2)),
  'unknown',
  ',',
  '',
];

/** Values of each parameter, right and wrong. Choices and switches are in the description. */
const values: Record<string, (known: Known, path: string) => readonly string[]> = {
  job_id: ({ job }) => [job, UNKNOWN_JOB, 'no-uuid', ''],
  model: ({ models }) => [...models.map(encodeURIComponent), 'unknown', ''],
  models: names,
  against: names,
  date: dates,
  start_date: dates,
  end_date: ({ last, first }) => [last, first, 'tomorrow', ''],
  status: () => ['completed', 'partial', 'failed', 'cancelled', 'running', 'nonsense'],
  limit: () => ['1', '2', '0', '201', 'many'],
  // The cursors that the service hands out are followed by `pages`.
  before: () => ['1', 'nonsense', UNKNOWN_JOB, '2025-09-10T00:00:00Z', '2100-01-01T00:00:00.000Z'],
  symbol: () => ['AAPL', 'nvda', 'QQQ', 'ZZZZ', 'A%20A'],
  benchmark: () => ['QQQ', 'universe', 'MSFT', 'ZZZZ', '!'],
  q: () => ['NVDA', 'momentum+trader', 'refused', 'nothing-has-this', '!!!', 'x'.repeat(201), ''],
  confidence: () => ['0.5', '0.99', '1', 'sure'],
  study: () => ['', 'nonsense'],
  differ: () => ['open', 'open,costs', 'nonsense', ''],
  factors: () => ['market', 'market,size', 'unknown', ''],
};

/** Parameters together, and mistakes that take two. */
const together: Record<string, (known: Known) => readonly string[]> = {
  '/jobs': () => ['status=completed&limit=1'],
  '/results': ({ first, last, job, models: [one] }) => [
    `start_date=${first}&end_date=${last}&model=${one}&job_id=${job}`,
    `date=${first}&start_date=${first}`,
    `start_date=${last}&end_date=${first}`,
  ],
  '/reasoning': ({ first, last, models: [one, two] }) => [
    ...[one, two].map((model) => `include_full_conversation=true&model=${model}`),
    `start_date=${first}&end_date=${last}&include_full_conversation=false`,
  ],
  '/decisions': ({ first, last, models: [one] }) => [
    ...['trade', 'refusal', 'malformed', 'failure', 'no_trade'].map(
      (kind) => `kind=${kind}&limit=200`,
    ),
    `models=${one}&model=x`,
    `start_date=${first}&end_date=${last}&symbol=AAPL&kind=trade`,
  ],
  '/search': ({ first, last, models: [one] }) => [
    `q=executed&models=${one}&start_date=${first}&end_date=${last}&limit=100`,
  ],
  '/performance': ({ job, first, last, models: [one, two] }) => [
    `models=${one},${two}&days=clean&common=true&details=true&benchmark=universe`,
    `start_date=${first}&end_date=${last}&job_id=${job}&details=true&benchmark=QQQ`,
    ...['trades', 'actions', 'curve'].map((table) => `table=${table}&model=${one}`),
  ],
  '/holdings': ({ first, last, job }) => [
    `model=buy-and-hold&start_date=${first}&end_date=${last}&job_id=${job}`,
    'model=buy-and-hold',
  ],
  '/comparison': ({ models: [one, two] }) => [
    `models=${one},${two},buy-and-hold&curves=true&align=number&confidence=0.8`,
    `models=${one}&against=buy-and-hold&days=clean&table=pairs`,
    'table=pairs&against=buy-and-hold',
  ],
  '/prices/coverage': ({ first }) => [`symbol=AAPL&date=${first}`],
};

export async function sweep(server: Server, known: Known): Promise<void> {
  const { paths } = await server.ask('/openapi.json');
  const routes = Object.entries<Record<string, { parameters?: Parameter[] }>>(paths);
  for (const [path, { get, post }] of routes) {
    await wrongMethods(server, path.replace('{job_id}', UNKNOWN_JOB), {
      isPost: post !== undefined,
    });
    if (get === undefined) continue;
    if (path.includes('{')) await ofEveryJob(server, path);
    else await route(server, path, { parameters: get.parameters ?? [], known });
  }
  for (const path of ['/nowhere', '/results/', '/simulate/status/', '/%zz']) await server.ask(path);
  await server.ask('/models', { headers: { 'accept-encoding': 'identity;q=0' } });
  await server.ask('/health', { headers: { host: 'elsewhere.example' } });
}

/** A POST without a body, so that it cannot start anything. */
async function wrongMethods(
  server: Server,
  path: string,
  { isPost }: { isPost: boolean },
): Promise<void> {
  for (const method of ['HEAD', 'DELETE', 'OPTIONS', ...(isPost ? ['GET'] : ['POST'])])
    await server.ask(path, { method });
}

async function ofEveryJob(server: Server, path: string): Promise<void> {
  const { jobs } = await server.ask('/jobs?limit=200');
  for (const id of [...jobs.map((job: any) => job.job_id), UNKNOWN_JOB, 'no-uuid', '%00'])
    await server.ask(path.replace('{job_id}', id));
}

async function route(
  server: Server,
  path: string,
  { parameters, known }: { parameters: Parameter[]; known: Known },
): Promise<void> {
  const base = needed[path]?.(known) ?? '';
  const oneByOne = parameters.flatMap((parameter) =>
    valuesOf(parameter, { known, path }).map((value) => {
      const query = new URLSearchParams(base);
      query.delete(parameter.name);
      return [query.toString(), `${parameter.name}=${value}`].filter(Boolean).join('&');
    }),
  );
  const name = parameters[0]?.name ?? 'x';
  const queries = [
    base,
    ...oneByOne,
    ...(together[path]?.(known) ?? []),
    'nonsense=1',
    `${name}=1&${name}=2`,
  ];
  const hasTable = parameters.some((parameter) => parameter.name === 'format');
  for (const query of queries) {
    await server.ask(`${path}${query && '?'}${query}`);
    if (hasTable && !query.includes('format='))
      await server.ask(`${path}?${query}${query && '&'}format=csv`);
  }
  if (hasTable) await server.ask(`${path}?${base}`, { headers: { accept: 'text/csv' } });
  if (parameters.some((parameter) => parameter.name === 'before')) await pages(server, path, base);
}

function valuesOf(
  { name, schema }: Parameter,
  { known, path }: { known: Known; path: string },
): readonly string[] {
  const own = values[name]?.(known, path);
  if (own !== undefined) return own;
  if (schema.enum) return [...schema.enum, 'nonsense', ''];
  if (schema.type === 'boolean') return ['true', 'false', 'maybe'];
  throw new Error(
    `GET ${path} has a parameter ${name}, for which there are no values in the sweep`,
  );
}

/** A few short pages, one after the other. */
async function pages(server: Server, path: string, base: string): Promise<void> {
  let before: string | number | null = '';
  for (let page = 0; page < 6 && before !== null; page += 1) {
    const query = [base, 'limit=3', before !== '' && `before=${encodeURIComponent(before)}`]
      .filter(Boolean)
      .join('&');
    before = (await server.ask(`${path}?${query}`)).next_before;
  }
}
