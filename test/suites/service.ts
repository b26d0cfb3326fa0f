import { loadSuite } from './load.ts';

loadSuite('service');
