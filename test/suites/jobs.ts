import { loadSuite } from './load.ts';

loadSuite('jobs');
