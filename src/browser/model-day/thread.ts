import { type Json, asObject, tryParse } from '../../json.ts';
import { h } from '../parts/element.ts';
import { count, price } from '../parts/format.ts';
import type { Message } from '../service/responses.ts';
import { moment } from '../parts/time.ts';

/** Of a longer text the rest is folded away at first. */
const LONG_TEXT = 4_000;

/** A conversation to read: what was said in full, what tools were asked and answered on one line each, unfolded at will. */
export function thread(messages: readonly Message[]): HTMLElement {
  return h(
    'ol',
    { class: 'thread' },
    ...messages.map((message) => h('li', { class: message.role }, ...entryOf(message))),
  );
}

function entryOf(message: Message): HTMLElement[] {
  if (message.role === 'tool') return [toolCall(message)];
  const head = h(
    'p',
    { class: 'who' },
    h('strong', {}, speakers[message.role]),
    h('span', { class: 'quiet' }, moment(message.timestamp)),
  );
  if (message.role !== 'assistant') return [folded(h('span', {}, head), message.content)];
  const words =
    message.content === '' ? h('p', { class: 'quiet' }, 'No words, only tool calls.') : text(message.content);
  return [head, words, ...(message.summary === null ? [] : [h('p', { class: 'quiet' }, message.summary)])];
}

const speakers: Record<Message['role'], string> = {
  system: 'Rules given to the model',
  user: 'Told to the model',
  assistant: 'Model',
  tool: 'Tool',
};

function folded(summary: HTMLElement, content: string): HTMLElement {
  return h('details', {}, h('summary', {}, summary), text(content));
}

/** Text as it was written, whatever it looks like. */
export function text(content: string): HTMLElement {
  if (content.length <= LONG_TEXT) return h('div', { class: 'text' }, content);
  return h(
    'div',
    {},
    h('div', { class: 'text' }, `${content.slice(0, LONG_TEXT)} …`),
    h(
      'details',
      {},
      h('summary', {}, `The rest, ${count(content.length - LONG_TEXT)} characters`),
      h('div', { class: 'text' }, content.slice(LONG_TEXT)),
    ),
  );
}

function toolCall({ tool_name, tool_input, content }: Message): HTMLElement {
  const answer = parsed(content);
  const refusal = typeof answer?.['error'] === 'string' ? answer['error'] : null;
  return h(
    'details',
    { class: refusal === null ? 'call' : 'call refused' },
    h(
      'summary',
      {},
      h('code', {}, `${tool_name}(${shortArguments(tool_input)})`),
      h('span', { class: 'outcome' }, refusal === null ? outcomeOf(answer) : `refused: ${refusal}`),
    ),
    h('h4', {}, 'Asked'),
    h('pre', {}, pretty(tool_input ?? '')),
    h('h4', {}, 'Answered'),
    h('pre', {}, pretty(content)),
  );
}

function parsed(json: string | null): Json | null {
  return asObject(tryParse(json ?? '')) ?? null;
}

const MAX_SHORT = 80;

/** `symbol: AAPL, amount: 10`; what cannot be read as arguments, as it was sent. */
function shortArguments(input: string | null): string {
  const args = parsed(input);
  const words =
    args === null
      ? (input ?? '')
      : Object.entries(args)
          .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
          .join(', ');
  return words.length <= MAX_SHORT ? words : `${words.slice(0, MAX_SHORT)}…`;
}

/** What a tool's answer comes to, as far as one line tells it. */
function outcomeOf(answer: Json | null): string {
  if (answer === null) return '';
  const { executed, price: paid, bars, result, open, value, portfolio_value, results } = answer;
  if (typeof executed === 'string') return `executed${typeof paid === 'number' ? ` at ${price(paid)}` : ''}`;
  if (Array.isArray(bars)) return `${bars.length} bars`;
  if (Array.isArray(results)) return `${results.length} results`;
  const figure = [result, open, paid, value, portfolio_value].find((one) => typeof one === 'number');
  return typeof figure === 'number' ? price(figure) : '';
}

function pretty(json: string): string {
  const value = tryParse(json);
  return value === undefined ? json : JSON.stringify(value, null, 2);
}
