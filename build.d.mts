/** The program of the child processes, as text. */
export function buildAgent(): Promise<string>;

/** The files of the pages by name: compressed with Brotli, as base64. */
export function buildPages(): Promise<Record<string, string>>;
