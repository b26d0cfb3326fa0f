import { readFileSync } from 'node:fs';

const PAGE = new URL('../../docs/guides/many-machines.md', import.meta.url);

/**
 * The command that docs/guides/many-machines.md recommends for an engine: the one that begins with its program.
 * `replace` puts what exists here in the place of the examples in it, each of which has to be
 * there.
 */
export function recipe(program: string, replace: Record<string, string>): string[] {
  const commands = [...readFileSync(PAGE, 'utf8').matchAll(/^MODEL_DAY_COMMAND='(\[.*\])'$/gm)].map(
    ([, json = '']): string[] => JSON.parse(json),
  );
  const command = commands.find(([first]) => first === program);
  if (command === undefined)
    throw new Error(`docs/guides/many-machines.md has no command of ${program}`);
  const unused = Object.keys(replace).filter(
    (example) => !command.some((word) => word.includes(example)),
  );
  if (unused.length > 0)
    throw new Error(
      `The command of ${program} in docs/guides/many-machines.md does not contain ${unused.join(', ')}`,
    );
  return command.map((word) =>
    Object.entries(replace).reduce((text, [example, own]) => text.replace(example, own), word),
  );
}

/** The options for a host that docs/guides/many-machines.md recommends, as lines of an ssh configuration. */
export function sshOptions(): string {
  const [, lines] = /^```\n(Host worker1\n[^]*?)^```$/m.exec(readFileSync(PAGE, 'utf8')) ?? [];
  if (lines === undefined)
    throw new Error('docs/guides/many-machines.md has no options of Host worker1');
  return lines;
}
