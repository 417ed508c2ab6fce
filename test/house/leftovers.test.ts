import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { onPostgres } from '../support/postgres.ts';
import { isRunning } from '../support/processes.ts';
import { testPostgres } from '../support/services.ts';
import { ROOT } from './tree.ts';

let folder: string;
let temporary: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-leftovers-'));
  temporary = join(folder, 'tmp');
  await mkdir(temporary);
  await writeFile(
    join(folder, 'vitest.config.mjs'),
    `export default { test: {
       globals: true, include: ['*.test.ts'], testTimeout: 0,
       globalSetup: ${JSON.stringify(join(ROOT, 'test/support/setup.ts'))},
       setupFiles: ${JSON.stringify(join(ROOT, 'test/support/worker.ts'))},
       projects: [{ extends: true, test: { name: 'a' } }, { extends: true, test: { name: 'b', include: [] } }],
     } };`,
  );
  await writeFile(
    join(folder, 'leaves.test.ts'),
    `import { mkdtempSync, writeFileSync } from 'node:fs';
     import { tmpdir } from 'node:os';
     import { join } from 'node:path';
     import { onPostgres } from ${JSON.stringify(join(ROOT, 'test/support/postgres.ts'))};
     import { runName } from ${JSON.stringify(join(ROOT, 'test/support/rundatabases.ts'))};
     it('leaves something', async () => {
       writeFileSync(join(mkdtempSync(join(tmpdir(), 'left-')), 'file'), '');
       if (process.env.LEAVE === 'schema') {
         const name = runName();
         await onPostgres((client) => client.query(\`CREATE SCHEMA \${name}; CREATE TABLE \${name}.a (b int)\`));
       }
       process.stdout.write(\`left \${process.env.MOLAR_TEST_RUN} \${process.pid};\`);
       if (process.env.HANG === 'yes') await new Promise(() => setInterval(() => {}, 1000));
     });`,
  );
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function run(env: Record<string, string>): ChildProcess {
  return spawn(process.execPath, [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', '--root', folder], {
    env: { ...process.env, TMPDIR: temporary, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

interface Left {
  readonly name: string;
  /** The worker that runs the test. */
  readonly worker: number;
}

/** Waits until the test has left its things. */
async function left(child: ChildProcess): Promise<Left> {
  let output = '';
  for await (const chunk of child.stdout ?? []) {
    output += chunk;
    const [, name, worker] = /left (\w+) (\d+);/.exec(output) ?? [];
    if (name !== undefined) return { name, worker: Number(worker) };
  }
  throw new Error(`The run ended without its test: ${output}`);
}

/** Name of the run. */
async function wholeRun(env: Record<string, string> = {}): Promise<string> {
  const child = run(env);
  const ended = once(child, 'close');
  const [, name = ''] = /left (\w+) /.exec(await text(child.stdout as Readable)) ?? [];
  expect(await ended).toEqual([0, null]);
  return name;
}

/** How many schemas of a run are there. */
function schemas(name: string): Promise<number | null> {
  return onPostgres(async (client) => {
    const pattern = `molar_test_${name}_%`;
    return (await client.query('SELECT 1 FROM pg_namespace WHERE nspname LIKE $1', [pattern])).rowCount;
  });
}

it('a run of tests leaves nothing, nor does one that was killed once the next has run', async () => {
  const hasPostgres = (await testPostgres()) !== undefined;
  const leave: Record<string, string> = hasPostgres ? { LEAVE: 'schema' } : {};
  const killed = run({ HANG: 'yes', ...leave });
  const { name, worker } = await left(killed);
  const ofKilled = [`molar-tests-${name}`];
  const expectLeft = async (folders: readonly string[]) => {
    expect((await readdir(temporary)).filter((entry) => entry.startsWith('molar-'))).toEqual(folders);
    if (hasPostgres) expect(await schemas(name)).toBe(folders.length);
  };
  await expectLeft(ofKilled);
  await wholeRun();
  // Nothing is taken from a run that lives.
  await expectLeft(ofKilled);
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  await expect.poll(() => isRunning(worker)).toBe(false);
  await expectLeft(ofKilled);
  const ended = await wholeRun(leave);
  await expectLeft([]);
  expect(await readdir(temporary)).toEqual([]);
  expect(ended).toMatch(/^[0-9a-f]{7}$/);
  if (hasPostgres) expect(await schemas(ended)).toBe(0);
});
