import { h, on } from '../element.ts';
import { lastUsed } from '../filter-bar.ts';
import { goTo } from '../router.ts';
import { button, field, fillOptions } from '../ui.ts';
import { type FeedChoice, feedPath, kindWords } from './choice.ts';

const used = lastUsed();

/**
 * The search box, and without a search the kind and the symbol of decisions. Each change becomes
 * the page's address.
 */
export function findForm(choice: FeedChoice): HTMLElement {
  const change = (changed: Partial<FeedChoice>, name: string) => {
    used.set(name);
    goTo(feedPath({ ...choice, ...changed }));
  };
  const words = textInput('q', choice.words, {
    type: 'search',
    maxlength: 200,
    placeholder: 'Words in any order',
  });
  const symbol = textInput('symbol', choice.symbol, { placeholder: 'All symbols', size: 10 });
  const kind = kindSelect(choice.kind);
  on(kind, 'change', () => change({ kind: kind.value }, 'kind'));
  const apply = () => {
    const name = document.activeElement === symbol ? 'symbol' : 'q';
    change({ words: words.value.trim(), symbol: symbol.value.trim() }, name);
  };
  const end = button('Show decisions', () => change({ words: '' }, 'q'), { class: 'ghost' });
  const box = h(
    'div.search',
    field('Search in conversations', words),
    h('button', { type: 'submit' }, 'Search'),
  );
  const others = choice.words === '' ? [field('Kind', kind), field('Symbol', symbol)] : [end];
  const form = h(
    'form.find',
    { role: 'search', 'aria-label': 'Decisions and conversations' },
    box,
    ...others,
  );
  on(form, 'submit', (event) => {
    event.preventDefault();
    apply();
  });
  // Enter first changes the symbol and then submits the form, which must still be there.
  on(symbol, 'change', () => setTimeout(() => form.isConnected && apply()));
  used.focusIn(form);
  return form;
}

function kindSelect(chosen: string): HTMLSelectElement {
  const element = h('select', { name: 'kind' });
  fillOptions(element, [['', 'All decisions'], ...Object.entries(kindWords)], chosen);
  return element;
}

function textInput(
  name: string,
  value: string,
  more: Record<string, string | number>,
): HTMLInputElement {
  const input = h('input', { name, autocomplete: 'off', spellcheck: 'false', ...more });
  input.value = value;
  return input;
}
