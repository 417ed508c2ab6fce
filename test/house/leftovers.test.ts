import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { onPostgres, postgresTest } from '../support/postgres.ts';
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

async function wholeRun(): Promise<void> {
  const child = run({});
  child.stdout?.resume();
  expect(await once(child, 'close')).toEqual([0, null]);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

it('a run of tests leaves nothing in the temporary folder, nor does one that was killed once the next has run', async () => {
  const killed = run({ HANG: 'yes' });
  const { name, worker } = await left(killed);
  const ofKilled = [`molar-tests-${name}`];
  const isLeft = async () => (await readdir(temporary)).filter((entry) => entry.startsWith('molar-'));
  expect(await isLeft()).toEqual(ofKilled);
  await wholeRun();
  // Nothing is taken from a run that lives.
  expect(await isLeft()).toEqual(ofKilled);
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  await expect.poll(() => isRunning(worker)).toBe(false);
  expect(await isLeft()).toEqual(ofKilled);
  await wholeRun();
  expect(await readdir(temporary)).toEqual([]);
});

postgresTest('nor does it leave anything in PostgreSQL', async () => {
  const killed = run({ HANG: 'yes', LEAVE: 'schema' });
  const { name } = await left(killed);
  const schemas = (of = name) =>
    onPostgres(async (client) => {
      const pattern = `molar_test_${of}_%`;
      return (await client.query('SELECT 1 FROM pg_namespace WHERE nspname LIKE $1', [pattern])).rowCount;
    });
  await wholeRun();
  expect(await schemas()).toBe(1);
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  await wholeRun();
  expect(await schemas()).toBe(0);
  const [, ended] = /left (\w+) /.exec(await text(run({ LEAVE: 'schema' }).stdout as Readable)) ?? [];
  expect(ended).toMatch(/^[0-9a-f]{7}$/);
  expect(await schemas(ended)).toBe(0);
});
