/**
 * The first date of clean days: the day after the cutoff that restricts them, or the chosen first
 * date if that is later.
 */
export function cleanStart(cutoff: string | null, startDate: string): string {
  if (cutoff === null) return startDate;
  const next = new Date(`${cutoff}T00:00:00Z`);
  next.setUTCDate(next.getUTCDate() + 1);
  const first = next.toISOString().slice(0, 10);
  return first > startDate ? first : startDate;
}
