/** The functions of a comparison that other folders use at run time. */
export { compareModels } from './comparison.ts';
export { conventions } from './conventions.ts';
export { leaderOf, leftOutOf, modelOf, pairOf } from './response.ts';
export { columns, modelRow, pairRow } from './table.ts';
