import { hashText } from '#text/hash.ts';

/**
 * The files of a published folder: for the command that writes them, and for the pages that read
 * them where there is no server.
 */

/** Requests that are of the study of the page: no model or job is named, which have their own. */
const STUDY_REQUEST =
  /^\/(models|jobs|performance|comparison|decisions|search)(?!.*[?&](study|model|job_id)=)(\?|$)/;

/** A request from a page of this study; null where there are none. */
export function inStudy(url: string, study: string | null): string {
  return study !== null && STUDY_REQUEST.test(url) ? withStudy(url, study) : url;
}

export function withStudy(url: string, study: string): string {
  return `${url}${url.includes('?') ? '&' : '?'}study=${encodeURIComponent(study)}`;
}

/** Where a published folder has the response to a request. */
interface PublishedFile {
  /** Relative to the folder. */
  path: string;
  /** The member of the file that is the response; null where that is the whole file. */
  part: string | null;
  /** Of the decisions in the file, only those of this model are the response. */
  model: string | null;
}

/**
 * The file with the response to a request of the pages, compressed with gzip, because many file
 * servers send everything as it is. Those of a model-day share one, and the
 * decisions of one date are those that the list of all has on it, which asks for it by `before`.
 */
export function publishedFile(url: string): PublishedFile {
  const { pathname, searchParams: query } = new URL(url, 'http://localhost');
  const [model, date] = [query.get('model'), query.get('date')];
  if (model !== null && date !== null)
    return {
      path: `data/model-days/${fileName(model)}/${fileName(date)}.json.gz`,
      part: pathname.slice(1),
      model: null,
    };
  const day = pathname === '/decisions' ? query.get('start_date') : null;
  if (day !== null) {
    const study = query.get('study');
    return { ...publishedFile(inStudy(`/decisions?before=${day}`, study)), model };
  }
  const segments = pathname.slice(1).split('/').map(decodeURIComponent).map(fileName);
  query.delete('limit'); // a file has all
  const choice = [...query].map((pair) => fileName(pair.join('='))).sort();
  const name = [segments.join('/'), ...choice].join(',');
  const suffix = query.get('format') ?? 'json';
  return { path: `data/${name}.${suffix}.gz`, part: null, model: null };
}

/** With the other signs of a path, less than the 255 bytes that file systems take. */
const MAX_NAME_LENGTH = 80;

/**
 * A text as part of a file's name, for file systems that do not distinguish case, and servers that
 * hide names with a dot in front: `GPT-5#2` is `_g_p_t-5~23~`.
 */
function fileName(text: string): string {
  const name = text
    .replaceAll('_', '__')
    .replaceAll(/^\.|[^\w.=-]/gu, (sign) => `~${sign.codePointAt(0)?.toString(16)}~`)
    .replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  if (name.length <= MAX_NAME_LENGTH) return name;
  return `${name.slice(0, MAX_NAME_LENGTH)}~${(hashText(text) >>> 0).toString(36)}`;
}
