/** What is published, and how. */
export interface Publication {
  title: string;
  jobId: string | undefined;
  /** Entries, with all their runs; empty means all. */
  models: readonly string[];
  startDate: string | undefined;
  endDate: string | undefined;
  /** Whether model-days have what the models read and said. */
  withConversations: boolean;
  /** Where the folder will be, ending in a slash: previews of links want whole URLs. */
  url: string;
  /** A Chromium that makes the PNG of the preview; undefined for none. */
  chromium: string | undefined;
}

/** The filters of a request that has these parameters of its own. */
export function choiceOf(
  { jobId, startDate, endDate, models }: Publication,
  own: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const named = own['model'] === undefined ? models.join(',') : '';
  return given({ job_id: jobId, start_date: startDate, end_date: endDate, models: named });
}

/** The values that there are. */
export function given(values: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value ? [[name, value]] : [])),
  );
}

/** Whether some models or dates of jobs are left out, so that the pages of jobs would say too much. */
export function isPart({ models, startDate, endDate }: Publication): boolean {
  return models.length > 0 || startDate !== undefined || endDate !== undefined;
}
