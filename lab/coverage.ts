import { lookKinds } from '../src/features/comparison/looks.ts';
import {
  horizons,
  leadScenarios,
  measureCoverage,
  noisyScenarios,
  responses,
  scenarios,
  shareShowingAny,
  shareShowingLead,
  sharesShownBy,
  truthOf,
} from '../test/support/coverage.ts';

/**
 * How often the 95 % interval of a difference covers the truth, how often a response over equal
 * models shows a difference, how often a look every day finds one, and how often the smallest lead
 * that would be likely to show is shown: by simulation, as
 * tables in Markdown. `npm run coverage`, or `npm run coverage -- SIMULATIONS SEED`.
 */
const [simulations = '10000', seed = 'coverage'] = process.argv.slice(2);
if (!/^[1-9]\d{0,6}$/.test(simulations))
  throw new Error(`Cannot simulate ${simulations} times: expected a whole number, such as 10000`);

const percent = (share: number) => (Number.isNaN(share) ? '' : `${(share * 100).toFixed(1)} %`);

console.log(
  `${simulations} simulations each, seed ${seed}; one standard error is at most ${percent(Math.sqrt(0.0475 / Number(simulations)))}\n`,
);
console.log('| Days | Runs | Run effect | Own days | Covered | Mean ± interval over the runs |');
console.log('|---|---|---|---|---|---|');
for (const scenario of [...scenarios, ...noisyScenarios]) {
  const { days, runs, runEffect, ownNoise = 0 } = scenario;
  const { covered, naive } = measureCoverage(scenario, {
    simulations: Number(simulations),
    seed,
  });
  const own = ownNoise === 0 ? 'no' : 'yes';
  const cells = [days, runs, runEffect, own, percent(covered), percent(naive)];
  console.log(`| ${cells.join(' | ')} |`);
}

const options = { simulations: Number(simulations), seed };
console.log(
  `\n| Days | Runs | Run effect | Degrees of freedom | ${lookKinds.map((looks) => `Shown, \`${looks}\``).join(' | ')} |\n|---|---|---|---|---|---|`,
);
for (const scenario of leadScenarios) {
  const { days, runs, runEffect } = scenario;
  const freedom = truthOf(scenario).degreesOfFreedom.toFixed(1);
  const shown = lookKinds.map((looks) =>
    percent(shareShowingLead(scenario, { ...options, looks })),
  );
  console.log(`| ${[days, runs, runEffect, freedom, ...shown].join(' | ')} |`);
}

console.log(
  '\n| Days | Models | Autocorrelation | Responses that show any pair |\n|---|---|---|---|',
);
for (const scenario of responses) {
  const share = shareShowingAny(scenario, { ...options, looks: 'once' });
  const { days, models, autocorrelation } = scenario;
  console.log(`| ${[days, models, autocorrelation, percent(share)].join(' | ')} |`);
}

console.log(
  `\n| \`looks\` | Autocorrelation | ${horizons.map((day) => `By day ${day}`).join(' | ')} |`,
);
console.log(`|---|---|${horizons.map(() => '---|').join('')}`);
for (const looks of lookKinds)
  for (const autocorrelation of [0, 0.2]) {
    const shares = sharesShownBy(autocorrelation, { ...options, looks });
    console.log(`| \`${looks}\` | ${[autocorrelation, ...shares.map(percent)].join(' | ')} |`);
  }
