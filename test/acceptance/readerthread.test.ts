import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fixturePatients, ORGANIZATION, type Served, serve, TOKEN, workplace, writeFixture } from './molar.ts';

const PATIENTS = 5000;

let place: Awaited<ReturnType<typeof workplace>>;
let served: Served;

beforeAll(async () => {
  place = await workplace();
  await writeFixture(place.path, PATIENTS);
  served = await serve(place.path, ['--data', 'd', '--import', 'fixture.ndjson', '--rate-limit', '0']);
});
afterAll(async () => {
  await served?.stop('SIGKILL');
  await place.remove();
});

async function page(number: number, filter = ''): Promise<{ id: number }[]> {
  const query = new URLSearchParams({ pageSize: '100', page: String(number), ...(filter && { filter }) });
  const response = await fetch(`${served.url}/api/v1/patients?${query}`, {
    headers: { authorization: `Bearer ${TOKEN}`, 'organization-id': ORGANIZATION },
  });
  expect(response.status).toBe(200);
  return ((await response.json()) as { data: { id: number }[] }).data;
}

const threads = async () =>
  Number(/^Threads:\s*(\d+)$/m.exec(await readFile(`/proc/${served.child.pid}/status`, 'utf8').catch(() => ''))?.[1]);

it('pages far on are read by another thread, all of them right, and the server ends as usual', async () => {
  const all = fixturePatients(PATIENTS);
  const expected = (number: number, test: (one: (typeof all)[number]) => boolean = () => true) =>
    all
      .filter(test)
      .slice((number - 1) * 100, number * 100)
      .map(({ id }) => id);
  await page(1);
  const before = await threads();
  const numbers = Array.from({ length: 25 }, (_, at) => 22 + at);
  const read = await Promise.all(numbers.map((number) => page(number)));
  // Only Linux tells.
  if (!Number.isNaN(before)) expect(await threads()).toBeGreaterThan(before);
  for (const [at, number] of numbers.entries()) expect(read[at]?.map(({ id }) => id)).toEqual(expected(number));
  const active = await page(24, 'patientStatus==ACTIVE');
  expect(active.map(({ id }) => id)).toEqual(expected(24, ({ patientStatus }) => patientStatus === 'ACTIVE'));
  expect(await page(1000)).toEqual([]);
  const under = Promise.allSettled(numbers.map((number) => page(number)));
  expect(await served.stop()).toBe(0);
  await under;
});
