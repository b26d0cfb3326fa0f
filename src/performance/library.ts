/** The arithmetic of figures that other files use at run time. */
export { compareModels, staleness } from './comparability.ts';
export { reportConventions } from './definitions.ts';
export { reportFamilies } from './families.ts';
export { reportBenchmark } from './report-benchmark.ts';
export { reportModel } from './report.ts';
export { commissionOf } from './trading.ts';
