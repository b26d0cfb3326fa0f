import { closeInspector, refuseInspector } from './own-node.ts';

/**
 * Runs when imported: main.ts imports it first, because it must run before anything else in the
 * program.
 */
closeInspector();
refuseInspector();
