import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connection, fixturePatients, molar, type Served, serve, workplace, writeFixture } from './molar.ts';

const PATIENTS = 200;
const PARALLEL = 8;

let place: Awaited<ReturnType<typeof workplace>>;
let server: Served;

beforeAll(async () => {
  place = await workplace();
  await writeFixture(place.path, PATIENTS);
  const data = ['--data', ':memory:', '--import', 'fixture.ndjson', '--log-level', 'silent'];
  server = await serve(place.path, [...data, '--rate-limit', '10']);
});

afterAll(async () => {
  await server.stop();
  await place.remove();
});

it('parallel requests stay at the rate of a server that limits it', async () => {
  const line = ['patients', 'list', '--fields', 'id', '--page-size', '5', '--parallel', String(PARALLEL)];
  const ran = await molar(place.path, [...line, '--out', 'patients.csv', '--receipt'], connection(server.url));
  expect([ran.code, ran.stdout], ran.stderr).toEqual([0, '']);
  const rows = fixturePatients(PATIENTS).map(({ id }) => String(id));
  expect(await readFile(join(place.path, 'patients.csv'), 'utf8')).toBe(`${['id', ...rows].join('\n')}\n`);
  const receipt = JSON.parse(await readFile(join(place.path, 'patients.csv.receipt.json'), 'utf8'));
  expect(receipt).toMatchObject({ complete: true, rows: PATIENTS });
  expect(receipt.throttledSeconds).toBeGreaterThan(0);
  // Refused are at most the requests that were under way when the first was.
  expect(receipt.retries).toBeLessThanOrEqual(PARALLEL);
});
