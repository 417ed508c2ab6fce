import { afterEach, beforeEach, describe, expect } from 'vitest';
import { wrongRowsBy } from '../core/mirror/oracle.ts';
import { readPostgres } from '../core/mirror/postgresoracle.ts';
import { type Faithful, startFaithful } from '../faithful/service.ts';
import { postgresTest } from '../support/postgres.ts';
import { molarIn } from './inprocess.ts';
import { exit, start, workplace } from './molar.ts';

let place: Awaited<ReturnType<typeof workplace>>;
let service: Faithful;

beforeEach(async () => {
  place = await workplace();
  service = await startFaithful({ seed: 'kills', moods: { pageCap: 10 }, practice: { patients: 600 } });
});

afterEach(async () => {
  await service.close();
  await place.remove();
});

describe('a mirror in PostgreSQL', () => {
  postgresTest('goes on where a killed load was, of which there is no lock; and is queried', async ({ url }) => {
    const words = ['mirror', 'sync', 'patients', '--to', url, '--json'];
    let count = 0;
    const running = start(place.path, words, service.env);
    service.onRequest = () => {
      if (++count === 45) running.kill('SIGKILL');
    };
    await exit(running);
    service.onRequest = undefined;
    const [loaded = {}] = await readPostgres(url, 'SELECT max(id) AS id, count(*) AS rows FROM patients');
    expect(Number(loaded.rows)).toBeGreaterThan(200);
    expect(await readPostgres(url, "SELECT complete FROM _mirror WHERE resource = 'patients'")).toEqual([
      { complete: 0n },
    ]);
    const from = service.requests.length;
    const done = await molarIn(place.path, words, service.env);
    expect(done.code, done.stderr).toBe(0);
    const pages = service.requests
      .slice(from)
      .filter(
        ({ path, query }) => path === '/api/v1/patients' && !query.responseFields && !query.filter?.includes('>=2'),
      );
    expect(Math.min(...pages.map(({ query }) => Number(query.lastId)))).toBeGreaterThanOrEqual(Number(loaded.id));
    expect(await wrongRowsBy((query) => readPostgres(url, query), 'patients', service.records('patients'))).toEqual([]);

    const query = (sql: string, ...more: string[]) => molarIn(place.path, ['query', sql, '--from', url, ...more]);
    expect((await query('SELECT count(*) AS rows FROM patients')).stdout).toBe('rows\n600\n');
    expect((await query('DELETE FROM patients')).code).toBe(2);
    const unknown = await query('SELECT * FROM patient');
    expect(unknown.code).toBe(4);
    expect(unknown.stderr).toContain('Did you mean patients?');
    const slow = await query('SELECT pg_sleep(60)', '--timeout', '1s');
    expect(slow.code, slow.stderr).toBe(7);
  });
});
