import { h } from './element.ts';
import { MISSING } from './format.ts';

const local = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

/** An instant in the reader's own time zone; in UTC on hover. */
export function localTime(timestamp: string | null): HTMLElement | string {
  if (timestamp === null) return MISSING;
  const instant = new Date(timestamp);
  if (Number.isNaN(instant.getTime())) return timestamp;
  const utc = `${timestamp.slice(0, 19).replace('T', ' ')} UTC`;
  return h('time', { datetime: timestamp, title: utc }, local.format(instant));
}
