import './no-inspector.ts';
import { storageFaultOf } from './database/faults.ts';
import { messageOf, ServiceError } from './domain.ts';
import { VERSION } from './version.ts';

/** Exit codes, as shells and schedulers expect them. */
const FAILED = 1;
const WRONG_USAGE = 2;

/** A command gets its arguments and resolves to the exit code, or to nothing when the process goes on. */
type Command = (args: string[]) => Promise<number | void>;

/** Each command loads its own modules: help and health check never open a database. */
const commands: Record<string, Command> = {
  serve: async (args) => {
    const unknown = args.filter((argument) => argument !== '--merge-config');
    if (unknown.length > 0)
      throw new ServiceError('cannot_start', `Cannot start: serve has no argument ${unknown.join(' ')}`);
    // Merged first: which configuration file is used is decided when the serving module is loaded.
    if (args.length > 0) await (await import('./commands/merge-config.ts')).mergeConfig([]);
    await (await import('./commands/serve.ts')).serve();
  },
  demo: async (args) => (await import('./commands/demo.ts')).demo(args),
  'import-prices': async (args) => (await import('./commands/import-prices.ts')).importPrices(args),
  'download-prices': async (args) => (await import('./commands/download-prices.ts')).downloadPrices(args),
  trigger: async (args) => (await import('./commands/trigger.ts')).trigger(args),
  watch: async (args) => (await import('./commands/watch.ts')).watch(args),
  results: async (args) => (await import('./commands/results.ts')).results(args),
  backup: async (args) => (await import('./commands/backup.ts')).backup(args),
  check: async (args) => (await import('./commands/check.ts')).check(args),
  'merge-config': async (args) => (await import('./commands/merge-config.ts')).mergeConfig(args),
  healthcheck: async () => (await import('./commands/healthcheck.ts')).healthcheck(),
};

const HELP = `Trading Simulation Service ${VERSION}

Usage: node server.js [command]

  serve [--merge-config]    serve the HTTP interface (the default command); with --merge-config
                            do merge-config first
  demo                      serve in DEV mode and run a simulation over the last ten weekdays
  import-prices FILE...     store daily prices from files (Alpha Vantage JSON, merged JSON lines, CSV)
  download-prices --from DATE --to DATE [--symbols A,B,...] [--limit N]
                            download the daily prices that are missing, at most N symbols
  trigger [--start DATE] --end DATE [--models A,B,...] [--replace] [--watch]
                            create a job on a running service
  watch [JOB-ID]            follow a job of a running service to its end (the newest one)
  results [--job JOB-ID] [--model SIGNATURE] [--date DATE] [--csv]
                            print the results of a running service
  backup [FILE]             copy the database, also while the service runs
  check [FILE]              verify the database and recompute its books; changes nothing
  merge-config [USER-FILE]  write the default configuration with user-configs/config.json merged over it
                            to /tmp/runtime_config.json
  healthcheck               exit with 0 when the service on API_PORT is healthy, else with 1
  --help, --version, --licenses

The commands that ask a running service take --url URL, else API_URL, else the one on API_PORT; API_TOKEN is sent when set.

Settings are environment variables, among them API_PORT, DEPLOYMENT_MODE (DEV or PROD) and LOG_LEVEL;
the README lists them all. Paths are relative to the working directory.
`;

async function main([name = 'serve', ...args]: string[]): Promise<number | void> {
  if (name === '--help' || name === '-h' || name === 'help' || args.includes('--help')) return print(HELP);
  if (name === '--version' || name === '-v') return print(`${VERSION}\n`);
  if (name === '--licenses') return print((await import('./commands/licences.ts')).licences());
  const isOption = name.startsWith('-');
  const command = Object.hasOwn(commands, isOption ? 'serve' : name) ? commands[isOption ? 'serve' : name] : undefined;
  if (command === undefined) {
    process.stderr.write(`There is no command ${JSON.stringify(name)}.\n\n${HELP}`);
    return WRONG_USAGE;
  }
  return command(isOption ? [name, ...args] : args);
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

main(process.argv.slice(2)).then(
  (code) => {
    if (code !== undefined) process.exitCode = code;
  },
  (error: unknown) => {
    const expected = error instanceof ServiceError ? error.message : storageFaultOf(error);
    const unexpected = error instanceof Error ? error.stack : messageOf(error);
    process.stderr.write(`${expected ?? `Unexpected failure: ${unexpected}`}\n`);
    process.exit(FAILED);
  },
);
