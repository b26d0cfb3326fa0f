/** The program of the child processes, as text. */
export function buildAgent(): Promise<string>;
