// First, so that nothing runs before it.
import './no-inspector.ts';

import { explainFailure, runCommandLine } from './commands/command-line.ts';
import { outliveReaders } from './commands/lost-reader.ts';

outliveReaders();

runCommandLine(process.argv.slice(2)).then(
  (code) => {
    if (code !== undefined) process.exitCode = code;
  },
  (error: unknown) => process.exit(explainFailure(error)),
);
