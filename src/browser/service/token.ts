import { field, openDialog } from '../parts/blocks.ts';
import { h, newId, on } from '../parts/element.ts';
import { tokenProblem } from './token-text.ts';

/** Kept as long as the tab: the next person at this machine has to know the token again. */
const STORED_AS = 'access-token';

let known: string | null | undefined;

/**
 * The token that the reader gave in this tab; null if they gave none, or one that no request can
 * carry.
 */
export function accessToken(): string | null {
  known ??= sessionStorage.getItem(STORED_AS);
  return known === null || tokenProblem(known) !== '' ? null : known;
}

let asking: Promise<void> | null = null;

/**
 * Asks the reader for an access token and keeps it. All requests that wait for one share the same
 * question.
 */
export function askForToken(reason: string): Promise<void> {
  return (asking ??= openQuestion(reason).finally(() => (asking = null)));
}

function openQuestion(reason: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const id = newId();
  const kind = {
    type: 'password',
    name: 'token',
    required: true,
    autocomplete: 'off',
    spellcheck: 'false',
  };
  const input = h('input', { ...kind, 'aria-describedby': id });
  const form = h(
    'form',
    { method: 'dialog' },
    h('p', { id }, reason),
    field('Token', input),
    h('p.quiet', 'It is kept until you close this tab, and sent only to this server.'),
    h('div.actions', h('button.primary', { type: 'submit' }, 'Continue')),
  );
  const dialog = openDialog('Access token', form);
  on(input, 'input', () => input.setCustomValidity(tokenProblem(input.value.trim())));
  on(dialog, 'cancel', (event) => event.preventDefault());
  on(dialog, 'close', () => {
    known = input.value.trim();
    sessionStorage.setItem(STORED_AS, known);
    resolve();
  });
  return promise;
}
