import type { Status } from '../responses.ts';

/**
 * Where the grid of a job opens: at the first model-day that has not ended, otherwise at the last
 * date. A large job that was just created has no model-days yet, so its grid opens at the first
 * date.
 */
export function openedAt({ date_range, details }: Pick<Status, 'date_range' | 'details'>): {
  date?: string | undefined;
  model?: string;
} {
  if (details.length === 0) return {};
  return (
    details.find(({ status }) => status === 'pending' || status === 'running') ?? {
      date: date_range.at(-1),
    }
  );
}
