import { createPublicKey } from 'node:crypto';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { tamper } from '../support/rawsql.ts';
import { molarIn } from './inprocess.ts';
import { connection, serve, workplace, writeFixture } from './molar.ts';

let place: Awaited<ReturnType<typeof workplace>>;
beforeEach(async () => {
  place = await workplace();
  await writeFixture(place.path, 20);
});
afterEach(() => place.remove());

const run = (...args: string[]) => molarIn(place.path, ['server', ...args]);
const verify = (...args: string[]) => run('audit', 'verify', '--data', 'data', '--json', ...args);
const checkpoints = async () => (await readFile(join(place.path, 'shipped'), 'utf8')).trim().split('\n');

interface Problem {
  readonly code: string;
  readonly source: string;
}
const errorsOf = (stderr: string) => (JSON.parse(stderr) as { error: { errors: readonly Problem[] } }).error.errors;

test('a served log is signed and shipped, verified with either half of the key, and damage is told', async () => {
  const flags = ['--audit-key', 'key.pem', '--audit-checkpoints', 'shipped'];
  const served = await serve(place.path, ['--import', 'fixture.ndjson', '--data', 'data', ...flags]);
  const read = await molarIn(place.path, ['patients', 'list', '--json'], connection(served.url));
  expect(read.code, read.stderr).toBe(0);
  const running = await verify(...flags);
  expect(running, running.stderr).toMatchObject({ code: 0 });
  const metrics = await (await fetch(`${served.url}/metrics`)).text();
  expect(metrics).toMatch(/^molar_audit_checkpoints_waiting \d+$/m);
  expect(await served.stop()).toBe(0);
  const secret = await readFile(join(place.path, 'key.pem'), 'utf8');
  const half = createPublicKey(secret).export({ type: 'spki', format: 'pem' });
  await writeFile(join(place.path, 'half.pem'), half);
  const whole = await verify('--audit-key', 'half.pem', '--audit-checkpoints', 'shipped');
  expect(whole, whole.stderr).toMatchObject({ code: 0, stderr: '' });
  const last = JSON.parse((await checkpoints()).at(-1) ?? '') as { id: number; hash: string; number: number };
  expect(JSON.parse(whole.stdout)).toEqual({
    ...{ entries: last.id, first: 1, last: last.id, head: `${last.id}:${last.hash}`, problems: [] },
    checkpoints: (await checkpoints()).length,
  });
  // The key is in no default place, so nobody would know whose signatures they are.
  const without = await verify();
  expect(without.code).toBe(9);
  expect(errorsOf(without.stderr)).toMatchObject([{ code: 'audit.checkpoint', source: 'checkpoint 1' }]);
  await writeFile(join(place.path, 'cut'), `${(await checkpoints()).slice(0, -1).join('\n')}\n`);
  const cut = await verify('--audit-key', 'half.pem', '--audit-checkpoints', 'cut');
  expect(errorsOf(cut.stderr)).toMatchObject([{ code: 'audit.shortened', source: `checkpoint ${last.number}` }]);
  await tamper(
    { path: join(place.path, 'data'), database: undefined },
    'DELETE FROM audit_entries WHERE id = 1',
    "UPDATE log_heads SET hash = 'x' WHERE name = 'audit'",
  );
  const damaged = await verify(...flags);
  expect(damaged).toMatchObject({ code: 9, stdout: '' });
  expect(errorsOf(damaged.stderr)).toMatchObject([
    { code: 'audit.missing', source: 'entry 1' },
    { code: 'audit.altered', source: 'head' },
  ]);
  const checked = await run('check', '--data', 'data', '--audit-key', 'half.pem', '--json');
  expect(checked.code).toBe(9);
  const { problems } = JSON.parse(checked.stdout) as { problems: readonly { code?: string; id: unknown }[] };
  expect(problems).toMatchObject([{ code: 'audit.missing', id: 1 }, { code: 'audit.altered' }]);
});

test('a key that others may read, and a target that is none, are refused before the server listens', async () => {
  const key = join(place.path, 'key.pem');
  const start = (...flags: string[]) => molarIn(place.path, ['serve', '--port', '0', '--data', 'data', ...flags]);
  await writeFile(key, '', { mode: 0o600 });
  expect((await start('--audit-key', 'key.pem')).code).toBe(9);
  await chmod(key, 0o644);
  const open = await start('--audit-key', 'key.pem');
  expect(open.code).toBe(9);
  expect(open.stderr).toContain('chmod 600');
  expect((await start('--audit-checkpoints', 'ftp://example.org/')).code).toBe(2);
});
