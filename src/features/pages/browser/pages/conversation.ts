import { asObject, type Json, tryParse } from '#json/json.ts';
import { modelDayPath } from '../../paths.ts';
import { type Child, h } from '../element.ts';
import { wholeNumber, counted, longDate, price } from '../format.ts';
import { lineLook, swatch } from '../look.ts';
import type { FoundMessage, Message } from '../../responses.ts';
import { localTime } from '../ui.ts';

/** How much of a longer text is shown before it is unfolded. */
const LONG_TEXT = 4_000;
/** The length of a tool call on one line. */
const MAX_ARGUMENTS_LENGTH = 80;

/**
 * A conversation: the model's words in full, each tool call on a line that unfolds to its arguments
 * and result.
 */
export function thread(messages: readonly Message[]): HTMLElement {
  return h(
    'ol.thread',
    ...messages.map((message) => h(`li.${message.role}`, ...threadEntry(message))),
  );
}

function threadEntry(message: Message): Child[] {
  const { role, content, summary, timestamp } = message;
  if (role === 'tool') return [toolCall(message)];
  const head = h('p.who', h('strong', speaker(message)), h('span.quiet', localTime(timestamp)));
  if (role !== 'assistant')
    return [h('details', h('summary', h('span', head)), textBlock(content))];
  const words = content === '' ? h('p.quiet', 'No text, only tool calls.') : textBlock(content);
  return [
    head,
    summary !== null && h('p.quiet', h('strong', 'Thinking: '), summary),
    words,
    message.served !== null && h('p.quiet', servedBy(message.served)),
  ];
}

/** Who answered, as its provider says. */
function servedBy({
  model,
  provider,
  service_tier: tier,
  system_fingerprint: fingerprint,
}: NonNullable<Message['served']>): string {
  const parts = [
    provider && `through ${provider}`,
    tier && `tier ${tier}`,
    fingerprint && `fingerprint ${fingerprint}`,
  ].filter(Boolean);
  return [`Answered by ${model ?? 'a model that was not named'}`, ...parts].join(', ');
}

/** Text exactly as it was written. */
export function textBlock(content: string): HTMLElement {
  if (content.length <= LONG_TEXT) return h('div.text', content);
  const rest = h('summary', `Show the other ${wholeNumber(content.length - LONG_TEXT)} characters`);
  return h(
    'div',
    h('div.text', `${content.slice(0, LONG_TEXT)} …`),
    h('details', rest, h('div.text', content.slice(LONG_TEXT))),
  );
}

function toolCall({ tool_name, tool_input, content }: Message): HTMLElement {
  const result = asObject(tryParse(content));
  const refusal = typeof result?.['error'] === 'string' ? result['error'] : null;
  const outcome = refusal === null ? shortResult(result) : `refused: ${refusal}`;
  return h(
    refusal === null ? 'details.call' : 'details.call.refused',
    h(
      'summary',
      h('code', `${tool_name}(${shortArguments(tool_input ?? '')})`),
      h('span.outcome', outcome),
    ),
    h('h3', 'Arguments'),
    h('pre', { tabindex: 0 }, prettyJson(tool_input ?? '')),
    h('h3', 'Result'),
    h('pre', { tabindex: 0 }, prettyJson(content)),
  );
}

/** JSON with indentation; any other text as it is. */
function prettyJson(text: string): string {
  const value = tryParse(text);
  return value === undefined ? text : JSON.stringify(value, null, 2);
}

/** `symbol: AAPL, amount: 10`; input that is not a JSON object is shown as it is. */
function shortArguments(input: string): string {
  const args = asObject(tryParse(input));
  const named = Object.entries(args ?? {}).map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const words = args === undefined ? input : named.join(', ');
  return words.length <= MAX_ARGUMENTS_LENGTH ? words : `${words.slice(0, MAX_ARGUMENTS_LENGTH)}…`;
}

/** A tool's result, summarised in one line. */
function shortResult(content: Json | undefined): string {
  if (content === undefined) return '';
  const { executed, price: paid, bars, result, open, value, portfolio_value, results } = content;
  if (typeof executed === 'string')
    return `executed${typeof paid === 'number' ? ` at ${price(paid)}` : ''}`;
  if (Array.isArray(bars)) return counted(bars.length, 'bar');
  if (Array.isArray(results)) return counted(results.length, 'result');
  const number = [result, open, paid, value, portfolio_value].find(
    (one) => typeof one === 'number',
  );
  return typeof number === 'number' ? price(number) : '';
}

/** Who speaks in a message of a conversation. */
export function speaker({
  role,
  message_index: index,
}: Pick<Message, 'role' | 'message_index'>): string {
  // Only the first system message is read by the model; later ones are notes on an answer.
  if (role === 'system') return index === 0 ? 'Instructions to the model' : 'Note by the service';
  return { user: 'Message to the model', assistant: 'Model', tool: 'Tool' }[role];
}

/** A message that was found, with the words that were searched for. */
export function messageItem(message: FoundMessage): HTMLElement {
  const { model, date, tool_name: tool, excerpt, matches, timestamp } = message;
  const pieces = splitMatches(excerpt, matches).map(({ text, isMatch }) =>
    isMatch ? h('mark', text) : text,
  );
  return h(
    'li.found',
    h(
      'p.did',
      dayLink(model, date),
      h('span', longDate(date)),
      h('span.quiet', tool === null ? speaker(message) : h('code', tool)),
      h('span.when.quiet', localTime(timestamp)),
    ),
    h('p.reason', ...pieces),
  );
}

/** A model with its colour, which leads to what it did on that day. */
export function dayLink(model: string, date: string): HTMLElement {
  return h(
    'span.who-did',
    swatch(lineLook(model)),
    h('a', { href: modelDayPath(model, date), title: model }, model),
  );
}

/**
 * An excerpt in pieces, each with whether it is a match; the places of the matches are counted in
 * Unicode characters.
 */
export function splitMatches(excerpt: string, matches: readonly (readonly number[])[]) {
  const characters = [...excerpt];
  const pieces = [];
  let end = 0;
  for (const [start = 0, length = 0] of matches) {
    pieces.push({ text: characters.slice(end, start).join(''), isMatch: false });
    end = start + length;
    pieces.push({ text: characters.slice(start, end).join(''), isMatch: true });
  }
  pieces.push({ text: characters.slice(end).join(''), isMatch: false });
  return pieces.filter(({ text }) => text !== '');
}
