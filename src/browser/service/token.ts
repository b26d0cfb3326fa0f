import { h, on } from '../parts/element.ts';

/** Lives as long as the tab: whoever gets the machine next has to know the token again. */
const STORED_AS = 'access-token';

let known: string | null | undefined;

/** The token that the reader gave in this tab; null when none was asked for yet. */
export function accessToken(): string | null {
  return (known ??= sessionStorage.getItem(STORED_AS));
}

let asking: Promise<void> | null = null;

/** Asks the reader for an access token and keeps it. All requests that wait for it share one question. */
export function askForToken(reason: string): Promise<void> {
  return (asking ??= openQuestion(reason).finally(() => (asking = null)));
}

function openQuestion(reason: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const input = h('input', {
    type: 'password',
    name: 'token',
    required: true,
    autocomplete: 'off',
    spellcheck: 'false',
    'aria-describedby': 'token-reason',
  });
  const form = h(
    'form',
    { method: 'dialog' },
    h('h2', { id: 'token-title' }, 'Access token'),
    h('p', { id: 'token-reason' }, reason),
    h('label', { class: 'field' }, h('span', {}, 'Token'), input),
    h('p', { class: 'quiet' }, 'It is kept in this tab until you close it, and sent only to this server.'),
    h('div', { class: 'actions' }, h('button', { type: 'submit', class: 'primary' }, 'Continue')),
  );
  const dialog = h('dialog', { 'aria-labelledby': 'token-title' }, form);
  on(dialog, 'cancel', (event) => event.preventDefault());
  on(dialog, 'close', () => {
    known = input.value.trim();
    sessionStorage.setItem(STORED_AS, known);
    dialog.remove();
    resolve();
  });
  document.body.append(dialog);
  dialog.showModal();
  return promise;
}
