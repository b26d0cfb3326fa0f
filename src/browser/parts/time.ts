import { h } from './element.ts';
import { MISSING } from './format.ts';

const local = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});

/** An instant in the reader's own zone; UTC on hover. */
export function moment(timestamp: string | null): HTMLElement | string {
  if (timestamp === null) return MISSING;
  const instant = new Date(timestamp);
  if (Number.isNaN(instant.getTime())) return timestamp;
  const utc = `${timestamp.slice(0, 19).replace('T', ' ')} UTC`;
  return h('time', { datetime: timestamp, title: utc }, local.format(instant));
}
