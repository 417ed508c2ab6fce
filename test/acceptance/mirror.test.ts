import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { queried, wrongRows } from '../core/mirror/oracle.ts';
import { type Faithful, startFaithful } from '../faithful/service.ts';
import { molarIn } from './inprocess.ts';
import { exit, start, workplace } from './molar.ts';

let place: Awaited<ReturnType<typeof workplace>>;
let service: Faithful;
let file: string;

beforeEach(async () => {
  place = await workplace();
  file = join(place.path, 'practice.db');
});

afterEach(async () => {
  await service?.close();
  await place.remove();
});

/** A service with so many patients, ten to a page. */
async function startWith(patients: number): Promise<void> {
  const practice = { patients, transactions: patients / 5 };
  service = await startFaithful({ seed: 'kills', moods: { pageCap: 10 }, practice });
}

const sync = (words: readonly string[] = []) => ['mirror', 'sync', 'patients', 'transactions', '--to', file, ...words];

/** Where the pages of the first load of patients began that a run asked for. */
const starts = (from: number) =>
  service.requests
    .slice(from)
    .filter(({ path, query }) => path === '/api/v1/patients' && !query.responseFields && !query.filter?.includes('>=2'))
    .map(({ query }) => Number(query.lastId));

describe('a first load that is killed', () => {
  it('goes on where it was, and is complete only in the end', async () => {
    await startWith(900);
    let running: ChildProcess | undefined;
    for (const requests of [30, 70]) {
      const from = service.requests.length;
      let count = 0;
      service.onRequest = () => {
        if (++count === requests) running?.kill('SIGKILL');
      };
      running = start(place.path, sync(), service.env);
      await exit(running);
      const status = await molarIn(place.path, ['mirror', 'status', '--to', file, '--json']);
      expect(JSON.parse(status.stdout)).toMatchObject({ complete: false, lock: null });
      expect(starts(from).length).toBeGreaterThan(10);
    }
    service.onRequest = undefined;
    const reached = Math.max(...starts(0));
    const loaded = queried(file, 'SELECT max(id) AS id, count(*) AS rows FROM patients')[0] as {
      id: number;
      rows: number;
    };
    const from = service.requests.length;
    const [gone, changed] = service.records('patients').map(({ id }) => Number(id)) as [number, number];
    service.remove('patients', gone);
    service.edit('patients', changed, { lastName: 'Changed' });
    const done = await molarIn(place.path, sync(['--json']), service.env);
    expect(done.code, done.stderr).toBe(0);
    // No page that was committed is asked for again, and at most ten pages were not.
    expect(loaded.rows).toBeGreaterThan(300);
    expect(Math.min(...starts(from).filter((id) => id > 0))).toBeGreaterThanOrEqual(loaded.id);
    expect(starts(from).filter((id) => id < reached).length).toBeLessThanOrEqual(10);
    for (const resource of ['patients', 'transactions'] as const)
      expect(wrongRows(file, resource, service.records(resource))).toEqual([]);
    const status = JSON.parse((await molarIn(place.path, ['mirror', 'status', '--to', file, '--json'])).stdout);
    expect(status.resources).toContainEqual(
      expect.objectContaining({ resource: 'patients', rows: 899, complete: true }),
    );
  });
});

describe('a sync of a mirror that is in use', () => {
  it('is refused at once, and names the other', async () => {
    await startWith(100);
    const running = start(place.path, sync(), service.env);
    const once = new Promise<void>((resolve) => {
      service.onRequest = () => {
        // It cannot have ended before the other one has looked.
        running.kill('SIGSTOP');
        resolve();
      };
    });
    await once;
    service.onRequest = undefined;
    const refused = await molarIn(place.path, sync(), service.env);
    running.kill('SIGCONT');
    expect(refused.code).toBe(9);
    expect(refused.stderr).toContain(`process ${running.pid} `);
    expect(await exit(running)).toBe(0);
  });

  it('changes nothing for a reader until all of it is there', async () => {
    await startWith(200);
    await molarIn(place.path, sync(), service.env);
    const before = queried(file, 'SELECT count(*) AS rows, max(_synced_at) AS at FROM patients');
    for (const { id } of service.records('patients').slice(0, 150))
      service.edit('patients', Number(id), { lastName: 'New' });
    const seen: unknown[] = [];
    service.onRequest = () => seen.push(queried(file, 'SELECT count(*) AS rows, max(_synced_at) AS at FROM patients'));
    const done = await molarIn(place.path, sync(['--json']), service.env);
    expect(JSON.parse(done.stdout).resources[0]).toMatchObject({ added: 0, changed: 150, deleted: 0 });
    expect(seen.length).toBeGreaterThan(15);
    expect(seen.every((rows) => JSON.stringify(rows) === JSON.stringify(before))).toBe(true);
  });
});
