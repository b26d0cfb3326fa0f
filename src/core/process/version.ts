/** The version of the program and of its interface. */
export const VERSION = '1.0.0';

/** The name of the package and of its command. */
export const COMMAND_NAME = 'trading-simulation-service';
