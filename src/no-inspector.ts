import { closeInspector, refuseInspector } from './inspector.ts';

/** Runs when it is imported, because it must run before anything else of the program: main.ts imports it first. */
closeInspector();
refuseInspector();
