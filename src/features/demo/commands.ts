import { command } from '#commands/command.ts';
import type { Application } from '#http/application.ts';

/** Feature: a first look without a key: simulated models on synthetic prices. */

export const demoCommand = (load: () => Promise<Application>) =>
  command({
    summary: 'Shows the service with simulated models; needs no key and costs nothing.',
    details: [
      'It starts the service in DEV mode, simulates the last 60 weekdays, prints the results and serves ' +
        'them until Ctrl-C. It uses any free port if `API_PORT` is taken.',
      'The models are those of `configs/demo_config.json`, or of your configuration if `RUNTIME_CONFIG_PATH` names one.',
    ],
    exitCodes: '0 after SIGTERM or Ctrl-C, 1 if it cannot start.',
    options: {},
    example: 'demo',
    run: async ({ names }) => (await import('./demo.ts')).demo(names, await load()),
  });
