/** The version of the program and of its interface. */
export const VERSION = '1.0.0';
