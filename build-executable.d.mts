/** Writes an executable of a built program, `server.js` and `server.js.map` in a folder, made of the Node that runs this. */
export function buildExecutable(paths: { from: string; to: string }): void;
