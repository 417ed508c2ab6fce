import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, freemem, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ROOT } from './tree.ts';

let folder: string;

/** A checkout whose tools say what they were started with, and end as NAME_EXIT says. */
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'molar-testscript-'));
  for (const [path, name] of [
    ['bin/prepare.mjs', 'prepare'],
    ['npm.mjs', 'npm'],
    ['node_modules/vitest/vitest.mjs', 'vitest'],
  ] as const) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    const set = ['MIRROR_RUNS', 'SIMULATION_SEED', 'SIMULATION_RUNS'].map((end) => `process.env.MOLAR_${end}`);
    const told = `['${name}', ...process.argv.slice(2), ${set}].join(' ').trim()`;
    const place = name === 'vitest' ? 'console.error(process.env.TMPDIR);' : '';
    const exit = `process.env['EXIT_OF_' + (process.env.MOLAR_SIMULATION_SEED ?? process.argv[4] ?? '${name}')] ?? process.env.EXIT_OF_${name}`;
    writeFileSync(join(folder, path), `${place}console.log(${told});\nprocess.exit(Number(${exit} ?? 0));\n`);
  }
  for (const name of ['test', 'oldnode', 'memory', 'vitest'].map((name) => `bin/${name}.mjs`)) {
    cpSync(join(ROOT, name), join(folder, name));
  }
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const done = spawnSync(process.execPath, [join(folder, 'bin/test.mjs'), ...args], {
    encoding: 'utf8',
    env: { npm_execpath: join(folder, 'npm.mjs'), ...env },
  });
  return { status: done.status, lines: done.stdout.trim().split('\n'), place: done.stderr.trim() };
}

describe('npm test', () => {
  it('builds, checks, and runs the tests that are named', () => {
    const { status, lines } = run(['test/core']);
    expect(status).toBe(0);
    expect(lines.slice(1, 4).toSorted()).toEqual(['npm run --silent lint', 'npm run --silent types', 'prepare']);
    expect([lines[0], ...lines.slice(4)]).toEqual(['prepare --packages', 'vitest run test/core']);
  });

  it.each(['prepare', 'lint', 'types'])('tests nothing after a failure of %s, and says that one failed', (what) => {
    const { status, lines } = run([], { [`EXIT_OF_${what}`]: '3' });
    expect({ status, last: lines.at(-1) }).toEqual({ status: 1, last: '0 passed, 1 failed' });
    expect(lines.filter((line) => line.startsWith('vitest'))).toEqual([]);
  });

  it('ends as the tests do', () => {
    expect(run([], { EXIT_OF_vitest: '1' }).status).toBe(1);
  });
});

describe('a long form', () => {
  it('says how long it is, unless that is set', () => {
    expect(run(['mirror', '-t', 'x']).lines).toEqual([
      'prepare',
      'vitest run --project unit --project integration test/core/mirror -t x 10000',
    ]);
    expect(run(['mirror'], { MOLAR_MIRROR_RUNS: '7' }).lines.at(-1)).toMatch(/ 7$/);
  });

  it('shares its seeds among all processors, each of them once', () => {
    const vitest = 'vitest run --project alone test/simulation';
    const shares = (env: Readonly<Record<string, string>>) => {
      const { status, lines } = run(['simulation'], env);
      expect(status).toBe(0);
      return lines
        .slice(1)
        .map((line) => line.replace(vitest, '').trim().split(' ').map(Number) as [number, number])
        .toSorted(([first], [other]) => first - other);
    };
    const all = shares({ MOLAR_SIMULATION_SEED: '8', MOLAR_SIMULATION_RUNS: '1001' });
    expect(all).toHaveLength(availableParallelism());
    let next = 8;
    for (const [first, runs] of all) {
      expect(first).toBe(next);
      expect(Math.abs(runs - 1001 / all.length)).toBeLessThan(1);
      next += runs;
    }
    expect(next).toBe(1009);
    expect(shares({ MOLAR_SIMULATION_SEED: '8', MOLAR_SIMULATION_RUNS: '1' })).toEqual([[8, 1]]);
  });

  it.each(['0', '', '1.5', 'x'])('is refused with %j seeds', (runs) => {
    expect(run(['simulation'], { MOLAR_SIMULATION_RUNS: runs })).toMatchObject({ status: 2, lines: [''] });
  });

  it('fails when one of its processes does', () => {
    expect(run(['simulation'], { EXIT_OF_1: '1' }).status).toBe(1);
  });

  it('is not run after a failure to build', () => {
    expect(run(['fuzz'], { EXIT_OF_prepare: '1' })).toEqual({ status: 1, lines: ['prepare'], place: '' });
  });
});

describe('the files of the tests', () => {
  it('are in memory where Linux has room for them there', ({ skip }) => {
    const df = spawnSync('df', ['-Pk', '/dev/shm'], { encoding: 'utf8' });
    const [, free, mounted] = /\s(\d+)\s+\d+%\s+(\S+)\s*$/.exec(df.stdout ?? '') ?? [];
    const least = Math.min(Number(free) * 1024, freemem());
    if (mounted !== '/dev/shm' || least < 10 * 2 ** 30) return skip('needs 10 GiB in /dev/shm');
    for (const form of [[], ['mirror']]) expect(run(form).place).toBe('/dev/shm');
  });

  it('are where TMPDIR says', () => {
    for (const form of [[], ['mirror']]) expect(run(form, { TMPDIR: folder }).place).toBe(folder);
  });
});

describe('the scripts of the package', () => {
  it('need no shell: programs joined by && and nothing else', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: object };
    for (const [name, script] of Object.entries(scripts))
      expect(script, name).toMatch(/^(?:(?:^| && )[\w@./-]+(?: [\w@./:=-]+)*)+$/);
  });
});
