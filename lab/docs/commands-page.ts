import { commands } from '../../src/commands.ts';
import type { Command } from '../../src/core/commands/command.ts';
import { commandUsage, optionRows } from '../../src/core/commands/command-line.ts';
import { PROGRAM_NAME } from '../../src/core/process/program.ts';

/** Makes docs/reference/commands.md from the table of commands, which `--help` prints too. */

/** What a page has room for and a screen of help has not, by command. */
const more: Record<string, string> = {
  check: `The books are all positions, holdings, costs and results. A failed check names the table, the row and the column:

\`\`\`
data/jobs.db, 131.1 kB
file: sound
ledger: 5 model-days of 2 models, 8 positions
  do not add up: 1
    model-a 2025-01-03 (session 1)
      positions 1, cash_e4: stored 90010000, replayed 90000000
\`\`\`

\`check\` recomputes the reports, the results of tools, the trades and the results. It cannot recompute what was recorded: the
words of models, news, times, tokens and costs. In a [package](../guides/verify.md) a manifest protects these.

\`--prices\` compares the prices, splits and dividends that model-days used with your own files. It reads them like
\`import-prices\`. Your files and the database must both hold raw prices, or both split-adjusted prices.

\`\`\`
prices: 8,181 bars, 3 splits and 41 dividends that model-days used, 1 difference from 3 files of your own
  AAPL 2025-09-12: close 234.0700 in the database, 234.1700 in your files
\`\`\``,
  'download-prices': `\`--limit\` counts days from Massive and symbols from Alpha Vantage. \`--dividends\` downloads the whole history since 1999 of each
symbol that lacks dividends.`,
  'import-documents': `[Filings and news](../guides/filings-and-news.md) describes the files.`,
  'import-prices': `[Price files](price-files.md) lists the formats and explains \`--as\`.`,
  'merge-config': `You do not need this command to use a configuration of your own: name a complete file in
[\`RUNTIME_CONFIG_PATH\`](settings.md#runtime_config_path).`,
  publish: `[Publish and export](../guides/publish-and-export.md) explains each option.`,
  export: `[Publish and export](../guides/publish-and-export.md) describes the lines.`,
  disguise: `[Control markets](../guides/control-markets.md) explains the method.`,
  restore: `If \`restore\` was interrupted, run it again before you start the service.`,
  trigger: `[Run every night](../guides/run-every-night.md) shows \`--end last-session\` in a scheduler. \`--terms-of\` is for stale model-days:
the warning about them prints the whole command. \`gpt-5\` means all runs of the entry. In results the first run has no number: \`gpt-5\`,
then \`gpt-5#2\`. \`gpt-5#1\` is rejected.`,
  view: `The folder of the file may be read-only, and \`view\` creates no file. It uses the access tokens of the settings. Requests that would
change something are rejected with status 405. The risk-free rate is the one stored in the file.`,
};

export function commandsPage(): string {
  const sections = Object.entries(commands).map(([name, command]) => sectionOf(name, command));
  return `# Commands

For people who run the program from a terminal or a scheduler.

In a clone, and where npm installed the package, write \`${PROGRAM_NAME} COMMAND\`. The executable is called
\`trading-simulation-service\`. \`--help\` lists the commands, and \`COMMAND --help\` prints the text below. \`--version\` and
\`--licenses\` print the version and the licences. Paths are relative to the working directory. Every command reads the
[settings](settings.md).

## Exit codes

| Code | Meaning |
|---|---|
| 0 | Success. |
| 1 | Failure. Each command below says what that means. |
| 2 | A mistake in the arguments. Nothing was done. |
| 130 | Ctrl-C stopped a command that reads or writes files. |

## Output and interruption

Results go to stdout, progress and warnings to stderr. \`trigger\` prints only the id of the job to stdout, or with \`--watch\` to
stderr. For results as JSON, use the [API](api.md). The log of the service is JSON lines, or text on a terminal.

All writing commands are safe to interrupt; run them again.

${sections.join('\n\n')}
`;
}

function sectionOf(name: string, command: Command): string {
  const { summary, details, exitCodes, options, example } = command;
  const rows = optionRows(options).map(([option, text]) => `| \`${option}\` | ${text} |`);
  return [
    `## ${name}`,
    summary,
    codeBlock(`${PROGRAM_NAME} ${commandUsage(name, command)}`),
    ...details,
    ...(rows.length === 0 ? [] : [['| Option | Meaning |', '|---|---|', ...rows].join('\n')]),
    ...(more[name] === undefined ? [] : [more[name]]),
    `Exit code: ${exitCodes}`,
    'Example:',
    codeBlock(`${PROGRAM_NAME} ${example}`),
  ].join('\n\n');
}

function codeBlock(line: string): string {
  return `\`\`\`sh\n${line}\n\`\`\``;
}
