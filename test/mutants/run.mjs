// `npm run test:mutants -- AREA [FILE …]`: puts one small fault after another into the files of an area, and tells which
// of them its tests do not find. A second run tries only what has changed since. What was found goes into scores.tsv.
import { Stryker } from '@stryker-mutator/core';
import { AREAS } from './areas.mjs';
import { keepScores } from './scores.mjs';

const USAGE = `npm run test:mutants -- AREA [FILE …], AREA being one of ${Object.keys(AREAS).join(', ')}\n`;

async function run(name, files) {
  const area = AREAS[name];
  // Read by vitest.config.ts, in a process that Stryker starts.
  process.env.MOLAR_MUTANTS_TESTS = JSON.stringify(area.tests);
  const results = await new Stryker({
    mutate: files.length > 0 ? files : area.files,
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner', './test/mutants/wording.mjs'],
    vitest: { configFile: 'test/mutants/vitest.config.ts', related: false },
    ignorers: ['wording'],
    coverageAnalysis: 'perTest',
    // A fault in a constant of a module needs every test, in a process of its own: half of the time for few faults.
    ignoreStatic: true,
    concurrency: 1,
    incremental: true,
    incrementalFile: `coverage/mutants/${name}.json`,
    reporters: ['clear-text', 'progress-append-only'],
    clearTextReporter: { allowColor: false, allowEmojis: false, logTests: false, reportTests: false },
    tempDirName: '.mutants',
    cleanTempDir: 'always',
    ignorePatterns: ['dist', 'man', 'release', 'coverage'],
    disableTypeChecks: false,
    // There is none to rewrite, and TypeScript has no interface for it any more.
    tsconfigFile: 'none.json',
  }).runMutationTest();
  for (const { file, found, faults } of keepScores(name, results))
    process.stdout.write(`${file}: ${found} of ${faults} faults found\n`);
}

const [name = '', ...files] = process.argv.slice(2);
if (Object.hasOwn(AREAS, name)) await run(name, files);
else {
  process.stderr.write(USAGE);
  process.exitCode = 2;
}
