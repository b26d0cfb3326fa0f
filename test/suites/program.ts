import { loadSuite } from './load.ts';

loadSuite('program');
