import { asObject, objectsIn, tryParse } from '../../basics/json.ts';
import { documentPath } from '../../basics/paths.ts';
import { here } from '../address.ts';
import { getText, unlessMissing } from '../api.ts';
import { h, replace } from '../element.ts';
import { longDate } from '../format.ts';
import type { Message, StoredDocument } from '../responses.ts';
import { heading, type Page } from '../router.ts';
import { definitions, link, missing, section } from '../ui.ts';
import { text } from './conversation.ts';

/** A document in the version that models could read on a morning. */
export const showDocument: Page = async (host, { id = '' }, signal) => {
  const content = h('div.stack');
  const asOf = here().searchParams.get('as_of');
  replace(host, heading('Document'), content);
  const path = asOf === null ? `/documents/${encodeURIComponent(id)}` : documentPath(id, asOf);
  const found = await getText(path, signal)
    .then((json): StoredDocument => JSON.parse(json))
    .catch(unlessMissing);
  const morning = asOf === null ? 'today' : `on the morning of ${longDate(asOf)}`;
  if (found === null)
    return replace(
      content,
      ...missing(`There is no document ${id} that could be read ${morning}.`),
    );
  const { title, kind, published_at, symbols, source, url, digest } = found;
  replace(
    content,
    h('p.quiet', `As models could read it ${morning}.`),
    definitions('figures', [
      ['Kind', kind],
      ['Published', published_at],
      ['Symbols', symbols.join(', ') || 'of all'],
      ...(source === null ? [] : [['Source', source] as const]),
      ...(url === null ? [] : [['Address', text(url)] as const]),
      ['SHA-256', digest.slice(0, 16)],
    ]),
    section(title, text(found.text)),
  );
};

/** The documents that a session listed or read, with links to what they said; null without any. */
export function documentsShown(messages: readonly Message[], date: string): HTMLElement | null {
  const shown = new Map<string, { title: string; isRead: boolean }>();
  for (const { tool_name: tool, content } of messages) {
    const result = asObject(tryParse(content)) ?? {};
    const isRead = tool === 'read_document';
    if (!isRead && tool !== 'list_documents') continue;
    for (const { id, title } of isRead ? [result] : objectsIn(result['documents']))
      if (typeof id === 'string' && typeof title === 'string')
        shown.set(id, { title, isRead: isRead || shown.get(id)?.isRead === true });
  }
  if (shown.size === 0) return null;
  const items = [...shown].map(([id, { title, isRead }]) =>
    h('li', link(documentPath(id, date), title), ' ', h('span.quiet', isRead ? 'read' : 'listed')),
  );
  return section('Documents', h('ul', ...items));
}
