/**
 * Node's inspector runs any code that its client sends, and any program on this machine can be its
 * client. Node opens it on SIGUSR1, which every process of the same user can send, including a
 * child under our permission model.
 */

/**
 * For every Node process that this program starts: makes it ignore SIGUSR1 from before its first
 * line.
 */
export const NO_INSPECTOR_FLAGS: readonly string[] = ['--disable-sigusr1'];

/**
 * Flags that open an inspector at the start; `--inspect-port` and `--inspect-publish-uid` open none
 * by themselves.
 */
const OPENING_FLAG = /(?:^|\s)(--inspect(?:[-_](?:brk|wait))?)(?=[=\s]|$)/;
/** What Node removes from NODE_OPTIONS, also from within a flag. */
const QUOTING = /["\\]/g;
const FAILED = 1;

/**
 * Keeps the inspector of this process closed. A listener takes SIGUSR1 away from Node for good. A
 * signal in the milliseconds before that may have opened the inspector, or be about to, so it is
 * closed now and in the next turn.
 */
export function closeInspector(): void {
  process.on('SIGUSR1', () => {});
  close();
  setImmediate(close);
}

/**
 * The same function as `close()` of `node:inspector`, which would add a tenth to every start-up if
 * loaded.
 */
function close(): void {
  (process as { _debugEnd?: () => void })._debugEnd?.();
}

/** Ends a process that was started with an open inspector, and names the flag that opened it. */
export function refuseInspector(): void {
  const place = [
    ['NODE_OPTIONS', (process.env['NODE_OPTIONS'] ?? '').replace(QUOTING, '')],
    ['the command line', process.execArgv.join(' ')],
  ].find(([, flags]) => OPENING_FLAG.test(flags ?? ''));
  if (place === undefined) return;
  const [where, flags = ''] = place;
  const flag = OPENING_FLAG.exec(flags)?.[1];
  process.stderr.write(
    `Cannot start: ${where} has ${flag}, and through Node's inspector any program on this machine could command this ` +
      `process and read its keys. Start it without ${flag}.\n`,
  );
  process.exit(FAILED);
}
