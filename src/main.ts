// First, so that nothing runs before it.
import './core/process/no-inspector.ts';

import { isMainThread } from 'node:worker_threads';
import { commands } from './commands.ts';
import { explainFailure, runCommandLine } from './core/commands/command-line.ts';
import { outliveReaders } from './core/commands/terminal.ts';
import { makeReports } from './core/http/report-thread.ts';
import { auditHere, isAuditThread } from './core/verify/database-audit.ts';

if (isMainThread) runCommand();
else if (isAuditThread()) void auditHere();
else void import('./routes.ts').then(({ routes }) => makeReports(routes));

function runCommand(): void {
  outliveReaders();
  runCommandLine(process.argv.slice(2), commands).then(
    (code) => {
      if (code !== undefined) process.exitCode = code;
    },
    (error: unknown) => process.exit(explainFailure(error)),
  );
}
