import type {
  Decision,
  Decisions,
  Jobs,
  KnownModels,
  Reasoning,
  Results,
  Status,
} from '../pages/responses.ts';
import { cannot } from '#domain/service-error.ts';
import { inStudy, publishedFile } from './published.ts';
import type { Settings } from '#settings/settings.ts';
import type { BuiltPages } from '../pages/built-pages.ts';
import type { Route } from '#api/route.ts';
import { type Respond, openResponder, readPages } from './respond.ts';
import {
  siteFilters,
  omitEmpty,
  chooseStudies,
  isPartial,
  knownModels,
  type Publication,
  buildSite,
} from './site.ts';
import {
  appendFileSync,
  type Dirent,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  unlinkSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Watched } from '#commands/terminal.ts';
import { makeFolder } from '#database/storage/files.ts';
import { replaceFile } from '#database/storage/new-file.ts';
import { tryLock } from '#database/storage/owner.ts';

/** Names the files of the folder that are ours, a line for each; it grows before they do. */
const MANIFEST = 'published.txt';
/** Of the run that writes; one that was killed leaves the file, and no lock. */
const LOCK = 'published.lock';
/** What a repository or its pages keep in the folder of a site. */
const FOREIGN_NAMES = ['.git', 'CNAME', LOCK, `${LOCK}-journal`];
const PARTIAL = '.partial';

/**
 * Makes this run the only one that publishes into a folder, which is made if it does not exist;
 * returns what ends that. Throws a `ServiceError` (`cannot_start`).
 */
function lockFolder(folder: string): () => void {
  makeFolder(folder);
  const file = join(folder, LOCK);
  // A FIFO would be waited for.
  const isFree = lstatSync(file, { throwIfNoEntry: false })?.isFile() !== false;
  try {
    const lock = isFree ? tryLock(file) : null;
    if (lock !== null) return () => (rmSync(file), lock.close());
  } catch {
    // As of a read-only disk.
  }
  const why = `another run has locked ${LOCK} there, or it cannot be locked`;
  throw cannot(`publish to ${folder}`, why);
}

/**
 * Opens a folder that gets the files of a site and keeps those that have not changed. Throws a
 * `ServiceError` (`cannot_start`) for one with files that no run of this program has put there,
 * links and FIFOs among them. A run that was killed leaves a folder that the next one completes.
 */
function openPublishedFolder(folder: string) {
  const manifest = join(folder, MANIFEST);
  const existing = listEntries(folder);
  const refuse = (path: string, why: string) => {
    const words = `it has ${path}, which ${why}; name a folder of its own`;
    throw cannot(`publish to ${folder}`, words);
  };
  for (const [path, entry] of existing) if (!entry.isFile()) refuse(path, 'is not a regular file');
  // A last line without its end was cut off, before its file was written.
  const lines = existing.has(MANIFEST)
    ? readFileSync(manifest, 'utf8').split('\n').slice(0, -1)
    : [];
  const own = new Set([MANIFEST, ...lines]);
  const previous = own.intersection(existing);
  const halves = [...existing.keys()].filter((path) => !own.has(path));
  for (const path of halves)
    if (!path.endsWith(PARTIAL) || !own.has(path.slice(0, -PARTIAL.length)))
      refuse(path, 'publish did not write');
  for (const path of halves) unlinkSync(join(folder, path));
  const written = { files: 0, bytes: 0, changed: 0, removed: halves.length };
  // What is lost in a power cut is written again by the next run, which compares the content.
  const replace = (path: string, content: string | Buffer) =>
    replaceFile(path, content, { unfinished: path + PARTIAL });
  const list = (paths: ReadonlySet<string>) =>
    replace(manifest, `${[...paths].sort().join('\n')}\n`);
  list(own); // a new file: whatever shares the old one stays as it is, and no line is half a line
  const current = new Set([MANIFEST]);
  return {
    /**
     * Writes a file, unless it has this content already. Throws for a path that was written before.
     */
    write(path: string, content: string | Buffer) {
      if (current.has(path)) throw new Error(`Two responses would be in ${path}`);
      current.add(path);
      const bytes = Buffer.from(content);
      written.files += 1;
      written.bytes += bytes.length;
      const target = join(folder, path);
      if (previous.has(path) && readFileSync(target).equals(bytes)) return;
      makeFolder(dirname(target));
      if (!own.has(path)) appendFileSync(manifest, `${path}\n`);
      replace(target, bytes);
      written.changed += 1;
    },
    /** Removes what was not written this time. Returns what came of the files. */
    finish() {
      for (const path of previous.difference(current)) {
        unlinkSync(join(folder, path));
        removeEmptyFolders(folder, dirname(path));
        written.removed += 1;
      }
      list(current);
      return written;
    },
  };
}

/** By their paths within the folder; a link is one of its files, wherever it leads. */
function listEntries(folder: string): Map<string, Dirent> {
  if (!existsSync(folder)) return new Map();
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => [relative(folder, join(entry.parentPath, entry.name)), entry] as const);
  return new Map(entries.filter(([path]) => !FOREIGN_NAMES.includes(path.split('/')[0] ?? '')));
}

/** Removes a folder and those above it, up to the first that has something in it. */
function removeEmptyFolders(folder: string, path: string): void {
  if (path === '.' || readdirSync(join(folder, path)).length > 0) return;
  rmdirSync(join(folder, path));
  removeEmptyFolders(folder, dirname(path));
}

/** Query of the comparison that the pages request. */
const LOOKS = { looks: 'daily' };

/**
 * Writes the pages of a database into a folder, with what they ask for: the state of one moment,
 * whether or not a service runs. Resolves to what came of the files. Throws a `ServiceError` where
 * nothing fits the choice, for a folder with other files, and when the signal aborts.
 */
export async function publishSite(
  { path, folder, settings, pages, routes }: PublishFrom,
  publication: Publication,
  { signal, onProgress }: Required<Watched>,
) {
  const { title: name } = publication;
  const { respond, mode, close } = openResponder(path, { name, settings, routes });
  let release: (() => void) | undefined;
  try {
    const studies = chooseStudies(respond, publication);
    const [first = publication] = studies;
    const site = await buildSite(respond, first, { pages, isDev: mode === 'DEV' });
    release = lockFolder(folder);
    const target = openPublishedFolder(folder); // from here on nothing that was asked for is wrong
    const { gzipSync } = process.getBuiltinModule('node:zlib');
    const write: Write = (url, text) => target.write(publishedFile(url).path, gzipSync(text));
    const names = studies.map(({ study = '' }) => study);
    const known = names.join() === '' ? [] : names;
    const steps: (() => void)[] = [];
    for (const own of studies) {
      const { study = '' } = own;
      const writeOwn: Write = (url, text) =>
        write(known.length === 0 ? url : inStudy(url, study), text);
      const work = { respond, publication: own, known, write: writeOwn };
      const days: ModelDays = new Map();
      for (const modelDay of writeDecisions(work)) {
        addModelDay(days, modelDay);
        await checkSignal(signal);
      }
      const jobs = writeJobs(work, days);
      writeOverview(work);
      const models = writeModels(work, { days, jobs });
      // What a page asks for whose address has no study.
      if (known[0] === study) writeModels({ ...work, write }, { days, jobs });
      steps.push(
        ...modelSteps(work, models),
        ...[...days].flatMap(([model, dates]) =>
          [...dates].map((date) => () => writeModelDay(work, { model, date, dates })),
        ),
      );
    }
    if (known.length > 0) write('/jobs', JSON.stringify(listJobs(respond, first, known)));
    for (const [index, step] of steps.entries()) {
      step();
      onProgress((index + 1) / steps.length);
      await checkSignal(signal);
    }
    for (const [name, content] of site) target.write(name, content);
    return target.finish();
  } finally {
    release?.();
    close();
  }
}

/** The database, the folder, and the built pages. */
interface PublishFrom {
  path: string;
  folder: string;
  settings: Settings;
  pages: BuiltPages;
  routes: readonly Route[];
}

type Write = (url: string, text: string) => void;

/** The dates of each model with a page. */
type ModelDays = Map<string, Set<string>>;

function addModelDay(days: ModelDays, { model, date }: { model: string; date: string }): void {
  days.set(model, (days.get(model) ?? new Set()).add(date));
}

interface Work {
  respond: Respond;
  publication: Publication;
  write: Write;
  /** The studies of the site, that which pages open first; none where they name none. */
  known: readonly string[];
}

/** Lets signals arrive; throws when one asked to stop. */
async function checkSignal(signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  signal.throwIfAborted();
}

/** The jobs of these studies; none where their pages would say too much. */
function listJobs(respond: Respond, own: Publication, studies: readonly string[]): Jobs {
  const pages = [...readPages<Jobs>(respond, '/jobs')];
  const jobs = pages
    .flatMap((page) => page.jobs)
    .filter(({ job_id: id }) => !isPartial(own) && (own.jobId ?? id) === id)
    .filter(({ study }) => studies.includes(study ?? ''));
  return { ...pages[0], jobs, count: jobs.length, next_before: null } as Jobs;
}

/** Asks for something with the filters of the publication, and writes it as pages ask for it. */
function saveResponse(
  { respond, publication, write }: Work,
  path: string,
  own: Readonly<Record<string, string>>,
): void {
  write(
    `${path}?${new URLSearchParams(own)}`,
    respond(path, { ...siteFilters(publication, own), ...own }),
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
  for (const page of readPages<Decisions>(respond, '/decisions', siteFilters(publication)))
    for (const decision of page.decisions) {
      if (own[0] !== undefined && own[0].date !== decision.date) writeDate(decision.date);
      own.push(redactDecision(publication, decision));
      yield decision;
    }
  writeDate(null);
}

/**
 * A decision without the id of a job that has no page, and without words that are not published.
 */
function redactDecision(publication: Publication, decision: Decision): Decision {
  return {
    ...decision,
    ...(isPartial(publication) && { id: '', job_id: '' }),
    ...(!publication.withConversations && {
      reason: null,
      detail: decision.kind === 'malformed' ? null : decision.detail, // that repeats what it said
    }),
  };
}

/** The pages of jobs; adds the model-days that they link to. */
function writeJobs(work: Work, days: ModelDays): Status[] {
  const { respond, publication, write } = work;
  const list = listJobs(respond, publication, [publication.study ?? '']);
  write('/jobs', JSON.stringify(list));
  return list.jobs.map(({ job_id: id }) => {
    const path = `/simulate/status/${encodeURIComponent(id)}`;
    const text = respond(path);
    write(path, text);
    const ranked = { by: 'entry', common: 'true' };
    for (const more of [{}, ranked, { ...ranked, details: 'true' }])
      saveResponse(work, '/performance', { job_id: id, ...more });
    saveResponse(work, '/comparison', { job_id: id, ...LOOKS });
    const status: Status = JSON.parse(text);
    for (const modelDay of status.details) addModelDay(days, modelDay);
    return status;
  });
}

/** Figures and comparison of all. */
function writeOverview(work: Work): void {
  for (const common of [{}, { common: 'true' }] as const)
    for (const details of [{}, { details: 'true' }] as const)
      saveResponse(work, '/performance', { by: 'entry', ...common, ...details });
  for (const curves of [{}, { curves: 'true' }] as const)
    saveResponse(work, '/comparison', { ...curves, ...LOOKS });
}

/**
 * The models with a model-day, without what the rest of the database says of them; returns them.
 */
function writeModels(
  { respond, publication, write, known: studies }: Work,
  { days, jobs }: { days: ModelDays; jobs: readonly Status[] },
): KnownModels['models'] {
  const known = knownModels(respond, publication.study);
  const entries = new Map(jobs.flatMap((job) => job.entries.map((own) => [own.family, own.entry])));
  const models = known.models
    .filter(({ signature }) => days.has(signature))
    .map((model) => ({
      ...model,
      first_completed_date: null,
      last_completed_date: null,
      portfolio_value: null,
      model_days_before_cutoff: 0,
      served: [],
      last_job: null,
      completed_model_days: days.get(model.signature)?.size ?? 0,
      entry: publication.jobId === undefined ? model.entry : (entries.get(model.family) ?? null),
    }));
  const own = { studies, newest_study: studies[0] || null, models, count: models.length };
  write('/models', JSON.stringify({ ...known, ...own }));
  return models;
}

/** What the pages of the models ask for: the steps that write it. */
function modelSteps(work: Work, models: KnownModels['models']): (() => void)[] {
  const names = new Set(models.flatMap(({ signature, family }) => [signature, family]));
  const entries = Map.groupBy(models, ({ family }) => family);
  const findRuns = (name: string) =>
    [...entries.values()].find((runs) => runs.some(({ signature }) => signature === name)) ?? [];
  return [...names].map((model) => () => {
    // Only an entry with several runs has a page for each of them.
    for (const by of findRuns(model).length > 1 ? ['entry', 'run'] : ['entry'])
      saveResponse(work, '/performance', { model, by, details: 'true' });
    saveResponse(work, '/performance', { model, table: 'actions', format: 'csv' });
  });
}

/** One file with all that the page of a model-day asks for; `dates` are those of the model. */
function writeModelDay(
  { respond, publication, write }: Work,
  { model, date, dates }: { model: string; date: string; dates: ReadonlySet<string> },
): void {
  const own = { model, date, ...omitEmpty({ job_id: publication.jobId }) };
  const results: Results = JSON.parse(respond('/results', own));
  const reasoning: Partial<Reasoning> = JSON.parse(
    respond('/reasoning', { ...own, include_full_conversation: 'true' }),
  );
  const there = (other: string | null) => (other !== null && dates.has(other) ? other : null);
  for (const session of reasoning.sessions ?? []) {
    session.previous_date = there(session.previous_date);
    session.next_date = there(session.next_date);
    if (!publication.withConversations)
      Object.assign(session, {
        conversation: null,
        session_summary: null,
        note: null,
        documents: null,
      });
  }
  if (isPartial(publication))
    for (const one of [...results.results, ...(reasoning.sessions ?? [])]) one.job_id = '';
  write(`/results?${new URLSearchParams({ model, date })}`, JSON.stringify({ results, reasoning }));
}
