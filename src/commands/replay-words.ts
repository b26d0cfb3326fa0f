import type { ReplayReport } from '../replay/replay.ts';
import { findings } from './findings.ts';
import { number } from './words.ts';

/** The report of a replay, as lines for the terminal. */
export function describeReplay(report: ReplayReport): string {
  const { modelDays, same, superseded, differences, before, lost, late, fromOutside, undigested } =
    report;
  const others =
    superseded.modelDays === 0
      ? ''
      : `, and ${number(superseded.same)} of ${number(superseded.modelDays)} superseded`;
  return [
    `replay: ${number(same)} of ${number(modelDays)} model-days replayed${others}: same reports, same answers, same books`,
    ...findings('differ', differences),
    ...findings('cannot be replayed: the prices at the time are no longer stored', lost),
    ...findings('same books, other words: committed before the wording had a version', before),
    ...findings('the same, from prices whose time stamps are later than their use', late),
    ...(fromOutside > 0
      ? [
          `  taken from the record, because they came from outside: ${number(fromOutside)} news results`,
        ]
      : []),
    ...(undigested > 0
      ? [`  without digests, which earlier versions did not store: ${number(undigested)}`]
      : []),
    '',
  ].join('\n');
}
