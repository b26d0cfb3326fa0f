import type * as v from 'valibot';
import type { decisionsResponse } from '../api/decisions.ts';
import type { jobsResponse } from '../api/jobs.ts';
import type { modelsResponse } from '../api/models.ts';
import type { reasoningResponse } from '../api/reasoning.ts';
import type { resultsResponse } from '../api/results.ts';
import type { statusResponse } from '../api/status.ts';
import { ServiceError } from '../basics/domain.ts';
import { publishedFile } from '../basics/published.ts';
import type { Settings } from '../basics/settings.ts';
import type { BuiltPages } from '../http/pages.ts';
import { type Respond, respondFrom } from '../http/respond.ts';
import { openPublishedFolder, type Written } from './folder.ts';
import { choiceOf, given, isPart, type Publication } from './publication.ts';
import { siteOf } from './site.ts';

type Decisions = v.InferOutput<typeof decisionsResponse>;
type Decision = Decisions['decisions'][number];
type Models = v.InferOutput<typeof modelsResponse>;
type Jobs = v.InferOutput<typeof jobsResponse>;
type Status = v.InferOutput<typeof statusResponse>;
type Results = v.InferOutput<typeof resultsResponse>;
type Reasoning = v.InferOutput<typeof reasoningResponse>;

interface Watched {
  signal: AbortSignal;
  onProgress: (share: number) => void;
}

/** As pages ask for a comparison. */
const LOOKS = { looks: 'daily' };
/** Of a page of `GET /jobs` and `GET /decisions`. */
const LONGEST_PAGE = '200';

/**
 * Writes the pages of a database into a folder, with what they ask for: the state of one moment,
 * whether or not a service runs. Throws a `ServiceError` where nothing fits the choice, for a
 * folder with other files, and when the signal aborts.
 */
export async function publish(
  { path, folder, settings, pages }: PublishFrom,
  publication: Publication,
  { signal, onProgress }: Watched,
): Promise<Written> {
  const { title: name } = publication;
  const { respond, mode, close } = respondFrom(path, { name, settings, clock: () => new Date() });
  try {
    checkChoice(respond, publication);
    const site = await siteOf(respond, publication, { pages, isDev: mode === 'DEV' });
    const target = openPublishedFolder(folder); // from here on nothing that was asked for is wrong
    const { gzipSync } = process.getBuiltinModule('node:zlib');
    const write: Write = (url, text) => target.write(publishedFile(url).path, gzipSync(text));
    const work = { respond, publication, write };
    const days: ModelDays = new Map();
    for (const modelDay of writeDecisions(work)) {
      addTo(days, modelDay);
      await turn(signal);
    }
    const jobs = writeJobs(work, days);
    writeOverview(work);
    const models = writeModels(work, { days, jobs });
    const steps = [
      ...modelSteps(work, models),
      ...[...days].flatMap(([model, dates]) =>
        [...dates].map((date) => () => writeModelDay(work, { model, date, dates })),
      ),
    ];
    for (const [index, step] of steps.entries()) {
      step();
      onProgress((index + 1) / steps.length);
      await turn(signal);
    }
    for (const [name, content] of site) target.write(name, content);
    return target.finish();
  } finally {
    close();
  }
}

/** The database, the folder, and the built pages. */
export interface PublishFrom {
  path: string;
  folder: string;
  settings: Settings;
  pages: BuiltPages;
}

type Write = (url: string, text: string) => void;

/** The dates of each model with a page. */
type ModelDays = Map<string, Set<string>>;

function addTo(days: ModelDays, { model, date }: { model: string; date: string }): void {
  days.set(model, (days.get(model) ?? new Set()).add(date));
}

interface Work {
  respond: Respond;
  publication: Publication;
  write: Write;
}

/** Lets signals arrive; throws when one asked to stop. */
async function turn(signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  signal.throwIfAborted();
}

/**
 * Throws for a choice that the service refuses or that has no model-day, and for the name of a run:
 * the page of a model shows all its runs.
 */
function checkChoice(respond: Respond, publication: Publication): void {
  const { models }: Models = JSON.parse(respond('/models'));
  const runs = new Map(models.map(({ signature, family }) => [signature, family]));
  const run = publication.models.find((name) => (runs.get(name) ?? name) !== name);
  const { detail, count } = JSON.parse(
    respond('/decisions', { ...choiceOf(publication), limit: '1' }),
  );
  const why =
    run === undefined
      ? (detail ?? (count === 0 && 'no model-day fits this choice'))
      : `${run} is a run of ${runs.get(run)}; name that, with all its runs`;
  if (why) throw new ServiceError('cannot_start', `Cannot publish: ${why}`);
}

/** The pages of a list, from its start to its end. */
function* pagesOf<Page extends { next_before: string | null }>(
  respond: Respond,
  path: string,
  choice: Record<string, string> = {},
): Generator<Page> {
  for (let before: string | null = ''; before !== null; ) {
    const query = { ...choice, ...given({ before }), limit: LONGEST_PAGE };
    const page: Page = JSON.parse(respond(path, query));
    yield page;
    before = page.next_before;
  }
}

/** Asks for something with the filters of the publication, and writes it as pages ask for it. */
function answer(
  { respond, publication, write }: Work,
  path: string,
  own: Readonly<Record<string, string>>,
): void {
  write(
    `${path}?${new URLSearchParams(own)}`,
    respond(path, { ...choiceOf(publication, own), ...own }),
  );
}

/** What the models decided, a file for each date, the latest first; yields the model-days. */
function* writeDecisions({ respond, publication, write }: Work): Generator<Decision> {
  let own: Decision[] = [];
  let isFirst = true;
  const writeDate = (next: string | null) => {
    const text = JSON.stringify({ decisions: own, count: own.length, next_before: next });
    if (isFirst) write('/decisions', text); // as the list asks for it
    write(`/decisions?before=${own[0]?.date}`, text);
    [isFirst, own] = [false, []];
  };
  for (const page of pagesOf<Decisions>(respond, '/decisions', choiceOf(publication)))
    for (const decision of page.decisions) {
      if (own[0] !== undefined && own[0].date !== decision.date) writeDate(decision.date);
      own.push(withoutWords(publication, decision));
      yield decision;
    }
  writeDate(null);
}

/** A decision without the id of a job that has no page, and without words that are not published. */
function withoutWords(publication: Publication, decision: Decision): Decision {
  return {
    ...decision,
    ...(isPart(publication) && { id: '', job_id: '' }),
    ...(!publication.withConversations && { reason: null }),
  };
}

/** The pages of jobs, none where they would say too much; adds the model-days that they link to. */
function writeJobs({ respond, publication, write }: Work, days: ModelDays): Status[] {
  const { jobId } = publication;
  const pages = [...pagesOf<Jobs>(respond, '/jobs')];
  const jobs = pages
    .flatMap((page) => page.jobs)
    .filter(({ job_id: id }) => !isPart(publication) && (jobId ?? id) === id);
  write('/jobs', JSON.stringify({ ...pages[0], jobs, count: jobs.length, next_before: null }));
  return jobs.map(({ job_id: id }) => {
    const path = `/simulate/status/${encodeURIComponent(id)}`;
    const text = respond(path);
    write(path, text);
    const ranked = { by: 'entry', common: 'true' };
    for (const more of [{}, ranked, { ...ranked, details: 'true' }]) {
      const query = { job_id: id, ...more };
      write(`/performance?${new URLSearchParams(query)}`, respond('/performance', query));
    }
    const compared = { job_id: id, ...LOOKS };
    write(`/comparison?${new URLSearchParams(compared)}`, respond('/comparison', compared));
    const status: Status = JSON.parse(text);
    for (const modelDay of status.details) addTo(days, modelDay);
    return status;
  });
}

/** Figures and comparison of all. */
function writeOverview(work: Work): void {
  for (const common of [{}, { common: 'true' }] as const)
    for (const details of [{}, { details: 'true' }] as const)
      answer(work, '/performance', { by: 'entry', ...common, ...details });
  for (const curves of [{}, { curves: 'true' }] as const)
    answer(work, '/comparison', { ...curves, ...LOOKS });
}

/** The models with a model-day, without what the rest of the database says of them; returns them. */
function writeModels(
  { respond, publication, write }: Work,
  { days, jobs }: { days: ModelDays; jobs: readonly Status[] },
): Models['models'] {
  const known: Models = JSON.parse(respond('/models'));
  const entries = new Map(jobs.flatMap((job) => job.entries.map((own) => [own.family, own.entry])));
  const models = known.models
    .filter(({ signature }) => days.has(signature))
    .map((model) => ({
      ...model,
      ...{ first_completed_date: null, last_completed_date: null, portfolio_value: null },
      ...{ model_days_before_cutoff: 0, served: [], last_job: null },
      completed_model_days: days.get(model.signature)?.size ?? 0,
      entry: publication.jobId === undefined ? model.entry : (entries.get(model.family) ?? null),
    }));
  write('/models', JSON.stringify({ ...known, models, count: models.length }));
  return models;
}

/** What the pages of the models ask for: the steps that write it. */
function modelSteps(work: Work, models: Models['models']): (() => void)[] {
  const names = new Set(models.flatMap(({ signature, family }) => [signature, family]));
  const entries = Map.groupBy(models, ({ family }) => family);
  const runsOf = (name: string) =>
    [...entries.values()].find((runs) => runs.some(({ signature }) => signature === name)) ?? [];
  return [...names].map((model) => () => {
    // Only an entry with several runs has a page for each of them.
    for (const by of runsOf(model).length > 1 ? ['entry', 'run'] : ['entry'])
      answer(work, '/performance', { model, by, details: 'true' });
    answer(work, '/performance', { model, table: 'actions', format: 'csv' });
  });
}

/** One file with all that the page of a model-day asks for; `dates` are those of the model. */
function writeModelDay(
  { respond, publication, write }: Work,
  { model, date, dates }: { model: string; date: string; dates: ReadonlySet<string> },
): void {
  const own = { model, date, ...given({ job_id: publication.jobId }) };
  const results: Results = JSON.parse(respond('/results', own));
  const reasoning: Partial<Reasoning> = JSON.parse(
    respond('/reasoning', { ...own, include_full_conversation: 'true' }),
  );
  const there = (other: string | null) => (other !== null && dates.has(other) ? other : null);
  for (const session of reasoning.sessions ?? []) {
    session.previous_date = there(session.previous_date);
    session.next_date = there(session.next_date);
    if (!publication.withConversations)
      Object.assign(session, { conversation: null, session_summary: null, note: null });
  }
  if (isPart(publication))
    for (const one of [...results.results, ...(reasoning.sessions ?? [])]) one.job_id = '';
  write(`/results?${new URLSearchParams({ model, date })}`, JSON.stringify({ results, reasoning }));
}
