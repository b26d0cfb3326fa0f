// First, so that nothing runs before it.
import './core/process/no-inspector.ts';

import { isMainThread } from 'node:worker_threads';
import { commands } from './commands.ts';
import { explainFailure, runCommandLine } from './core/commands/command-line.ts';
import { ignoreBrokenPipe } from './core/commands/terminal.ts';
import { runReportWorker } from './core/http/report-thread.ts';
import { runAuditWorker, isAuditThread } from './core/verify/database-audit.ts';

if (isMainThread) runCommand();
else if (isAuditThread()) void runAuditWorker();
else void import('./routes.ts').then(({ routes, tools }) => runReportWorker([...routes, ...tools]));

function runCommand(): void {
  ignoreBrokenPipe();
  runCommandLine(process.argv.slice(2), commands).then(
    (code) => {
      if (code !== undefined) process.exitCode = code;
    },
    (error: unknown) => process.exit(explainFailure(error)),
  );
}
