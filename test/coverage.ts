import { fewerDegrees, measureCoverage, noisyScenarios, scenarios } from './support/coverage.ts';

/**
 * How often the 95 % interval of a difference covers the truth, by simulation, as a table in
 * Markdown. `npm run coverage`, or `npm run coverage -- SIMULATIONS SEED`.
 */
const [simulations = '10000', seed = 'coverage'] = process.argv.slice(2);
if (!/^[1-9]\d{0,6}$/.test(simulations))
  throw new Error(`Cannot simulate ${simulations} times: expected a whole number, such as 10000`);

const percent = (share: number) => (Number.isNaN(share) ? '' : `${(share * 100).toFixed(1)} %`);

console.log(
  `${simulations} simulations each, seed ${seed}; one standard error is at most ${percent(Math.sqrt(0.0475 / Number(simulations)))}\n`,
);
console.log(
  '| Days | Runs | Run effect | Own days | Covered | With fewer degrees of freedom | Mean ± interval over the runs |',
);
console.log('|---|---|---|---|---|---|---|');
for (const scenario of [...scenarios, ...noisyScenarios]) {
  const { days, runs, runEffect, ownNoise = 0 } = scenario;
  const { covered, coveredWithFewer, naive } = measureCoverage(scenario, {
    simulations: Number(simulations),
    seed,
  });
  const own = ownNoise === 0 ? 'no' : 'yes';
  const cells = [
    days,
    runs,
    runEffect,
    own,
    percent(covered),
    `${percent(coveredWithFewer)} (${fewerDegrees(days).toFixed(1)})`,
    percent(naive),
  ];
  console.log(`| ${cells.join(' | ')} |`);
}
