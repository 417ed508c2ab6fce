import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { molarIn } from './inprocess.ts';
import { connection, ORGANIZATION, PATIENT, type Served, serve, workplace, writeFixture } from './molar.ts';

/** More than a page; the name of every third has what is asked for. */
const PATIENTS = 600;
const LOCATION = { id: 7000000000005 };
const PROVIDER = { id: 6100000000001 };
const OPERATORY = { id: 6200000000001 };

let place: Awaited<ReturnType<typeof workplace>>;
let served: Served;
let env: Readonly<Record<string, string>>;

/** Calendar events, appointments of two weeks and image attachments beside the patients of the fixture. */
function records(): object[] {
  const at = (index: number) =>
    `2026-03-${String(2 + (index % 14)).padStart(2, '0')}T${String(14 + (index % 8))}:00:00.000Z`;
  const many = (count: number, make: (index: number) => object) =>
    Array.from({ length: count }, (_, index) => make(index));
  return [
    { type: 'Provider', ...PROVIDER, firstName: 'Ada', lastName: 'Moss', isActive: true, isNonPersonEntity: false },
    { type: 'Operatory', ...OPERATORY, name: 'One', location: LOCATION },
    ...many(3, (index) => ({
      type: 'InsuranceClaim',
      id: 8000000000001 + index,
      patient: { id: PATIENT },
      status: 'PENDING',
    })),
    ...many(30, (index) => ({
      type: 'EventV1',
      id: 6300000000001 + index,
      title: `Meeting ${index}, "room"`,
      start: at(index),
      duration: 30,
      location: LOCATION,
    })),
    // The later its id, the earlier an appointment: the report goes by start, its delivery by id.
    ...many(140, (index) => ({
      type: 'AppointmentV1',
      id: 6400000000001 + index,
      start: at(139 - index),
      patient: { id: PATIENT + (index % 50) },
      provider: PROVIDER,
      operatory: OPERATORY,
      location: LOCATION,
      status: index % 5 === 0 ? 'CONFIRMED' : 'UNCONFIRMED',
      note: index % 3 === 0 ? '=1+1' : null,
      production: { amount: 100 + index, writeOff: index % 7 },
    })),
    ...many(40, (index) => ({
      type: 'ImageAttachmentV1',
      id: 6500000000001 + index,
      examName: `Bitewing ${index}`,
      insuranceClaim: { id: 8000000000001 + (index % 3) },
    })),
  ].map((record) => ({ organizationId: ORGANIZATION, ...record }));
}

beforeAll(async () => {
  place = await workplace();
  await writeFixture(place.path, PATIENTS);
  const token = {
    type: 'AccessToken',
    token: 'token-of-production',
    organizations: [ORGANIZATION],
    scopes: ['model:read', 'practice:read'],
  };
  const lines = [token, ...records()].map((record) => `${JSON.stringify(record)}\n`).join('');
  await appendFile(join(place.path, 'fixture.ndjson'), lines);
  served = await serve(place.path, ['--data', './d', '--import', 'fixture.ndjson', '--rate-limit', '0']);
  env = connection(served.url, 'token-of-production');
});

afterAll(async () => {
  await served.stop();
  await place.remove();
});

const run = (...args: string[]) => molarIn(place.path, args, env);

test.each([
  ['patients', ['--csv'], PATIENTS + 1],
  [
    'patients',
    ['--format', 'ndjson', '--fields', 'lastName,preferredLocation.id', '--filter', 'lastName~=Sm'],
    PATIENTS / 3,
  ],
  ['patients', ['--json', '--status', 'INACTIVE', '--limit', '30'], 32],
  ['patients', ['--csv', '--filter', 'lastName==Nobody'], 1],
  ['events', ['--csv', '--excel'], 31],
  ['appointments', ['--csv', '--location', 'ALL'], 141],
  [
    'appointments',
    ['--format', 'table', '--fields', 'start,note', '--sort', '-start', '--status', 'CONFIRMED', '--quiet'],
    30,
  ],
  ['appointments', ['--csv', '--no-escape-formulas', '--no-header'], 140],
])('%s list --async %j writes the bytes of the list', async (resource, flags, lines) => {
  const [listed, delivered] = await Promise.all([
    run(resource, 'list', ...flags),
    run(resource, 'list', '--async', ...flags),
  ]);
  expect(delivered).toEqual({ ...listed, stderr: '' });
  expect(delivered.code).toBe(0);
  expect(delivered.stdout.split('\n')).toHaveLength(lines + 1);
});

test.each([
  ['--csv'],
  ['--json', '--fields', 'scheduledAmount'],
  ['--format', 'table', '--location', '7000000000005'],
  ['--csv', '--timezone', 'Asia/Tokyo'],
])('locationproductionnetschedule report --async %s writes the bytes of the report', async (...flags) => {
  const line = ['locationproductionnetschedule', 'report', '--from', '2026-03-02', '--range', '10', ...flags];
  const [reported, delivered] = await Promise.all([run(...line), run(...line, '--async')]);
  expect(delivered).toEqual({ ...reported, stderr: '' });
  expect(delivered.stdout.split('\n').length).toBeGreaterThan(10);
});

test('locationproductionnetschedule report --async ends with 4 where nothing is scheduled', async () => {
  const line = ['locationproductionnetschedule', 'report', '--from', '2030-01-01', '--csv'];
  const [reported, delivered] = [await run(...line), await run(...line, '--async')];
  expect(delivered).toMatchObject({ code: 4, stdout: '' });
  expect(reported.code).toBe(4);
});

test('image attachments are listed, by claim too', async () => {
  const all = await run('imageattachments', 'list', '--format', 'ndjson', '--fields', 'id,insuranceClaim.id');
  const rows = all.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: number; insuranceClaim: { id: number } });
  expect(rows.map(({ id }) => id)).toEqual(Array.from({ length: 40 }, (_, index) => 6500000000001 + index));
  const some = await run('imageattachments', 'list', '--csv', '--fields', 'id', '--claim', '8000000000002', '--async');
  const ids = rows.filter(({ insuranceClaim }) => insuranceClaim.id === 8000000000002).map(({ id }) => id);
  expect(some.stdout).toBe(['id', ...ids, ''].join('\n'));
});

test('a file is written whole', async () => {
  await mkdir(join(place.path, 'out'));
  const { code } = await run('patients', 'list', '--async', '--out', 'out/a.csv');
  expect(code).toBe(0);
  const { stdout } = await run('patients', 'list', '--csv');
  expect(await readFile(join(place.path, 'out/a.csv'), 'utf8')).toBe(stdout);
});

test('six deliveries at once do not mix', async () => {
  const wanted = ['patients', 'events', 'appointments', 'patients', 'events', 'appointments'];
  const delivered = await Promise.all(
    wanted.map((resource) => run(resource, 'list', '--async', '--csv', '--fields', 'id')),
  );
  expect(delivered.map(({ code, stdout }) => [code, stdout.split('\n').length])).toEqual(
    [PATIENTS, 30, 140, PATIENTS, 30, 140].map((count) => [0, count + 2]),
  );
});
