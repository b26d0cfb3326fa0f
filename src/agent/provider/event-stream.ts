import { TooLarge } from './growth.ts';

/** One event of a stream, as WHATWG's "Server-sent events" define it. */
export interface StreamEvent {
  /** `message` where the server names none. */
  name: string;
  data: string;
}

/**
 * Splits a stream of bytes into events, wherever it is cut: lines end in CR, LF or CRLF, a byte
 * order mark and comments are skipped, and the lines of an event's data are joined. What follows
 * the last blank line is not an event. `maxLength` bounds one event, in UTF-16 units; a longer one
 * throws `TooLarge`.
 */
export function createEventReader(
  onEvent: (event: StreamEvent) => void,
  maxLength: number,
): (chunk: Buffer) => void {
  const decoder = new TextDecoder();
  let line = '';
  let endedInCr = false;
  let name = '';
  let data = '';
  let hasData = false;
  const dispatch = () => {
    if (hasData) onEvent({ name: name || 'message', data });
    name = data = '';
    hasData = false;
  };
  const takeLine = () => {
    if (line === '') return dispatch();
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'event') name = value;
    if (field !== 'data') return;
    data = hasData ? `${data}\n${value}` : value;
    hasData = true;
  };
  const grow = (text: string) => {
    line += text;
    if (line.length + data.length > maxLength)
      throw new TooLarge(`an event is larger than ${maxLength} bytes`);
  };
  return (chunk) => {
    const text = decoder.decode(chunk, { stream: true });
    if (text === '') return;
    let start = endedInCr && text.startsWith('\n') ? 1 : 0;
    endedInCr = text.endsWith('\r');
    for (const { 0: end, index } of text.matchAll(/\r\n|\n|\r/g)) {
      if (index < start) continue;
      grow(text.slice(start, index));
      takeLine();
      line = '';
      start = index + end.length;
    }
    grow(text.slice(start));
  };
}
