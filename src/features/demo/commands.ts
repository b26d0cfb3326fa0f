import { command } from '#commands/command.ts';
import type { Application } from '#http/application.ts';

/** Feature: a first look without a key: simulated models on synthetic prices. */

export const demoCommand = (load: () => Promise<Application>) =>
  command({
    summary: 'Serves in DEV mode and simulates sixty weekdays; needs no key, costs nothing.',
    details: [
      'Prints a table, and keeps serving until Ctrl-C. The models are those of',
      'configs/demo_config.json, if it is there. Uses any free port if API_PORT is taken.',
    ],
    options: {},
    example: 'demo',
    run: async ({ names }) => (await import('./demo.ts')).demo(names, await load()),
  });
