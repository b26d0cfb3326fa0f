/** Writes the executable of a built program (`server.js` and `server.js.map` in the folder `from`), with the Node that runs this. */
export function buildExecutable(paths: { from: string; to: string }): void;
