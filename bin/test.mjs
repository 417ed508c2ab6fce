#!/usr/bin/env node
// `npm test`, and the long forms of its tests: `node bin/test.mjs mirror`. A Node program, since no two shells agree on
// how conditions and variables are written, and in some of them `npm test` would test nothing and succeed.
import './oldnode.mjs';
import { availableParallelism } from 'node:os';
import { IN_PROCESS, node, vitest } from './vitest.mjs';

/**
 * Long forms: the arguments of vitest, and the variables that say how long where they are not set already. `seeds`: the
 * variables for the first seed and for their number; the processors share these seeds.
 */
const FORMS = {
  unit: { args: ['--project', 'unit'] },
  changed: { args: [...IN_PROCESS, '--changed'] },
  mirror: { args: [...IN_PROCESS, 'test/core/mirror'], env: { MOLAR_MIRROR_RUNS: '10000' } },
  simulation: {
    args: ['--project', 'alone', 'test/simulation'],
    env: { MOLAR_SIMULATION_SEED: '1', MOLAR_SIMULATION_RUNS: '10000', MOLAR_SIMULATION_HOURS: '2' },
    seeds: ['MOLAR_SIMULATION_SEED', 'MOLAR_SIMULATION_RUNS'],
  },
  faults: { args: ['--project', 'acceptance', 'test/acceptance/faults'], env: { MOLAR_FAULT_RUNS: '1000' } },
  faithful: { args: ['--project', 'integration', 'test/faithful/runs.test.ts'], env: { MOLAR_FAITHFUL_RUNS: '10000' } },
  fuzz: { args: ['--project', 'integration', 'test/contract/fuzz'], env: { MOLAR_FUZZ_CASES: '110000' } },
  package: {
    args: ['--project', 'acceptance', 'test/acceptance/installed.test.ts'],
    env: { MOLAR_PACKAGE_SCRIPTS: 'on' },
  },
  dist: { args: ['--project', 'acceptance', 'test/acceptance/archive'], env: { MOLAR_DIST_TARGETS: 'all' } },
  powercut: { args: ['--project', 'acceptance', 'test/acceptance/powercut'], env: { MOLAR_POWERCUT: 'everywhere' } },
  torture: { args: ['--config', 'test/torture/vitest.config.ts'] },
};

/** A script of package.json, by the npm that runs this one. */
function script(name) {
  return node([process.env.npm_execpath ?? '', 'run', '--silent', name]);
}

/** Everything; `more` goes to vitest, such as a folder of tests. */
async function everything(more) {
  if ((await node(['bin/prepare.mjs', '--packages'])) !== 0) return failedBefore();
  // The checks keep one processor busy while SQLite is compiled on another.
  const checks = await Promise.all([node(['bin/prepare.mjs']), script('lint'), script('types')]);
  if (checks.some((code) => code !== 0)) return failedBefore();
  return vitest(more);
}

/** Without tests, too, the last line says how many failed. */
function failedBefore() {
  process.stdout.write('0 passed, 1 failed\n');
  return 1;
}

async function form({ args, env, seeds }, more) {
  const shares = seeds === undefined ? [{}] : sharesOf(seeds, { ...env, ...process.env });
  if (shares.length === 0) {
    process.stderr.write(`${seeds.join(' and ')} must be whole numbers, 1 or more.\n`);
    return 2;
  }
  const code = await node(['bin/prepare.mjs']);
  if (code !== 0) return code;
  const codes = await Promise.all(shares.map((own) => vitest([...args, ...more], env, own)));
  return Math.max(...codes);
}

/** The variables of each process: consecutive seeds; the shares differ by one at most. None where one is no number. */
function sharesOf([first, runs], env) {
  const [from, all] = [Number(env[first]), Number(env[runs])];
  if (![from, all].every((number) => Number.isSafeInteger(number) && number > 0)) return [];
  const count = Math.min(availableParallelism(), all);
  const begins = Array.from({ length: count + 1 }, (_, index) => Math.round((all * index) / count));
  return begins
    .slice(1)
    .map((end, index) => ({ [first]: String(from + begins[index]), [runs]: String(end - begins[index]) }));
}

const [name = '', ...more] = process.argv.slice(2);
process.exitCode = Object.hasOwn(FORMS, name) ? await form(FORMS[name], more) : await everything(process.argv.slice(2));
