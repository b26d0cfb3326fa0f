import { documentPath } from '../../paths.ts';
import { pageUrl } from '../address.ts';
import { get, nullIfNotFound } from '../api.ts';
import { h } from '../element.ts';
import { wholeNumber, longDate } from '../format.ts';
import type { Session } from '../../responses.ts';
import { heading, type Page } from '../router.ts';
import { dateColumn, nameColumn, numberColumn, table, textColumn } from '../table.ts';
import { definitionList, link, notFound, section } from '../ui.ts';
import { textBlock } from './conversation.ts';

/** What is stored for models: prices and documents. */
export const showData: Page = async (host, _params, signal) => {
  host.append(heading('Data'));
  const { symbols } = await get('/prices/coverage', '', signal);
  const { coverage } = await get('/documents/coverage', '', signal);
  const prices = table<(typeof symbols)[number]>({
    caption: 'Prices',
    rows: symbols,
    empty: 'None.',
    columns: [
      nameColumn('Symbol', 'symbol'),
      textColumn('Source', 'source'),
      dateColumn('First', 'first_bar'),
      dateColumn('Last', 'last_bar'),
      numberColumn('Gaps', ({ gaps }) => gaps.length, wholeNumber),
    ],
  });
  const documents = table({
    caption: 'Documents',
    rows: coverage,
    empty: 'None.',
    columns: [
      nameColumn('Kind', 'kind'),
      textColumn('Symbol', 'symbol'),
      dateColumn('First', 'first_date'),
      dateColumn('Last', 'last_date'),
      numberColumn('Number', 'documents', wholeNumber),
    ],
  });
  host.append(h('div.stack', section('Prices', prices), section('Documents', documents)));
};

/** A document in one version, or as models could read it on a morning. */
export const showDocument: Page = async (host, { id = '' }, signal) => {
  const { searchParams } = pageUrl();
  const date = searchParams.get('as_of');
  host.append(heading(date === null ? 'Document' : `Document as of ${longDate(date)}`));
  searchParams.delete('study');
  const path = `/documents/${encodeURIComponent(id)}?${searchParams}` as const;
  const found = await get(path, '', signal).catch(nullIfNotFound);
  if (found === null) return host.append(...notFound('There is no such document.'));
  const about = definitionList('entry', [
    ['Id', id],
    ['Kind', found.kind],
    ['Published', found.published_at],
    ['Symbols', found.symbols.join(', ')],
    ['Source', found.source],
    ['URL', found.url],
  ]);
  host.append(h('div.stack', about, section(found.title, textBlock(found.text))));
};

/** The documents that a session listed or read, with links to those versions. */
export function documentsShown({ documents }: Session): HTMLElement | false {
  const items = (documents ?? []).map(({ id, title, version, latest_version: latest }) => {
    const later = link(documentPath(id, latest), `later version of ${latest}`);
    return h(
      'li',
      link(documentPath(id, version), title),
      latest !== version && h('span', ' (', later, ')'),
    );
  });
  return items.length > 0 && section('Documents', h('ul.documents', ...items));
}
