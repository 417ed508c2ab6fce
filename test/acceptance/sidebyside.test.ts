import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { LOCATIONS, PATIENTS, ORGANIZATION as PRACTICE, TOKENS } from '../support/ids.ts';
import { onPostgres, postgresTest } from '../support/postgres.ts';
import { bareRecords } from '../support/practice.ts';
import { buildChanged } from './changedbuild.ts';
import { molarIn } from './inprocess.ts';
import {
  type Ended,
  molar,
  ORGANIZATION,
  PATIENT,
  type Served,
  serve,
  TOKEN,
  workplace,
  writeFixture,
} from './molar.ts';

/** So many that each initial is written through both servers, more than once. */
const COUNT = 20;

let place: Awaited<ReturnType<typeof workplace>>;
/** A build whose catalog has a filter key, its index and a field more. */
let newer: string;
const running: Served[] = [];

beforeAll(async () => {
  place = await workplace();
  await writeFixture(place.path, COUNT);
  await buildChanged(join(place.path, 'newer'));
  newer = join(place.path, 'newer/bin/run.js');
});
afterEach(async () => {
  for (const served of running.splice(0)) await served.stop('SIGKILL');
});
afterAll(() => place.remove());

async function call(served: Served, method: string, path: string, body?: object) {
  const response = await fetch(`${served.url}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${TOKEN}`,
      'organization-id': ORGANIZATION,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as { data: Record<string, unknown> & Record<string, unknown>[] };
  expect(response.ok, JSON.stringify(answer)).toBe(true);
  return answer.data;
}

const ready = async (served: Served) => (await fetch(`${served.url}/readyz`)).status;

/** What a client of the newer server was told last of each patient, by initial; the older one knows nothing of pronouns. */
interface Told {
  middleInitial: string | null;
  pronouns: string | null;
}

postgresTest(
  'two builds serve one database, and a client of either finds what was written through the other',
  async (database) => {
    const data = ['--database', database.url, '--files', 'files', '--rate-limit', '0'];
    const before = await serve(place.path, [...data, '--import', 'fixture.ndjson']);
    running.push(before);
    const after = await serve(place.path, data, newer);
    running.push(after);
    expect([await ready(before), await ready(after)]).toEqual([200, 200]);

    const told = new Map<number, Told>();
    for (let id = PATIENT; id < PATIENT + COUNT; id++) told.set(id, { middleInitial: null, pronouns: null });
    const write = async (served: Served, from: number) => {
      for (let at = from; at < COUNT; at += 2) {
        const id = PATIENT + at;
        const middleInitial = 'ABCDE'[at % 5] as string;
        const own = served === after ? { pronouns: `p${at}` } : {};
        await call(served, 'PUT', `/patients/${id}`, { middleInitial, ...own });
        Object.assign(told.get(id) as Told, { middleInitial, ...own });
      }
    };
    await Promise.all([write(before, 0), write(after, 1)]);
    // The other way round: what the newer one stored stays when the older one changes something else.
    await Promise.all([
      ...[1, 3, 5].map((at) => call(before, 'PUT', `/patients/${PATIENT + at}`, { city: 'Elsewhere' })),
      ...[0, 2, 4].map(async (at) => {
        await call(after, 'PUT', `/patients/${PATIENT + at}`, { pronouns: 'late' });
        (told.get(PATIENT + at) as Told).pronouns = 'late';
      }),
    ]);
    const { id } = await call(before, 'POST', '/patients', {
      firstName: 'New',
      lastName: 'Patient',
      gender: 'F',
      dateOfBirth: '1990-01-01',
      middleInitial: 'C',
      patientStatus: 'ACTIVE',
      contactMethod: 'Email me',
      languageType: 'English',
      preferredLocation: { id: 7000000000005 },
      address1: '1 Example Street',
      city: 'Exampleton',
      state: 'UT',
      postalCode: '84101',
      phones: [],
    });
    told.set(id as number, { middleInitial: 'C', pronouns: null });

    const expectTold = async () => {
      for (const initial of 'ABCDE') {
        const filter = encodeURIComponent(`middleInitial==${initial}`);
        const found = await call(after, 'GET', `/patients?lastId=0&filter=${filter}`);
        const expected = [...told].filter(([, one]) => one.middleInitial === initial).map(([patient]) => patient);
        expect(found.map((row) => row.id)).toEqual(expected);
        for (const row of found) expect(row).toMatchObject(told.get(row.id as number) as Told);
      }
    };
    // What the older one wrote is found within a second; a machine that is busy may take longer.
    await expect.poll(async () => expectTold().then(() => 'told', String)).toBe('told');

    const finish = () =>
      molar(place.path, ['server', 'migrate-schema', '--finish', '--database', database.url, '--json'], {}, '', newer);
    expect(await finish()).toMatchObject({
      code: 9,
      stderr: expect.stringContaining('Stop every server of an earlier'),
    });
    expect([await ready(before), await ready(after)]).toEqual([200, 200]);
    expect(await before.stop()).toBe(0);
    // Until it is finished, one can go back.
    const back = await serve(place.path, data);
    running.push(back);
    expect([await ready(back), await ready(after)]).toEqual([200, 200]);
    await call(back, 'PUT', `/patients/${PATIENT}`, { middleInitial: 'E' });
    (told.get(PATIENT) as Told).middleInitial = 'E';
    expect(await back.stop()).toBe(0);
    const finished = await finish();
    expect([finished.code, JSON.parse(finished.stdout)]).toMatchObject([0, { finished: true }]);
    expect(await ready(after)).toBe(200);
    await expectTold();
    const check = await molar(place.path, ['server', 'check', ...data.slice(0, 4), '--json'], {}, '', newer);
    expect(JSON.parse(check.stdout)).toMatchObject({ ok: true, problems: [] });
    const left = await onPostgres(async (client) => {
      const { rows } = await client.query('SELECT COUNT(*)::int AS count FROM schema_repairs');
      return rows[0].count;
    }, database.url);
    expect(left).toBe(0);
  },
);

describe('a practice of the build before, served by the newer one', () => {
  let served: Served;

  beforeAll(async () => {
    const data = join(place.path, 'data');
    const lines = bareRecords().map((line) => `${JSON.stringify(line)}\n`);
    await writeFile(join(place.path, 'practice.ndjson'), lines.join(''));
    const imported = await molarIn(place.path, ['server', 'import', 'practice.ndjson', '--data', data]);
    expect(imported.code).toBe(0);
    served = await serve(place.path, ['--data', data], newer);
  });
  afterAll(() => served?.stop());

  const command = (...args: string[]): Promise<Ended> =>
    molar(
      place.path,
      args,
      { MOLAR_URL: served.url, MOLAR_TOKEN: TOKENS.full, MOLAR_ORGANIZATION: PRACTICE },
      '',
      newer,
    );

  it('is ready', async () => {
    const response = await fetch(`${served.url}/readyz`);
    expect([response.status, await response.json()]).toEqual([200, { status: 'ready' }]);
  });

  it('takes a change of the field, and finds a record of before and a changed one by the key', async () => {
    const id = String(PATIENTS.ann);
    const update = await command(
      'patients',
      'update',
      id,
      '--set',
      'pronouns=they/them',
      '--set',
      'middleInitial=Q',
      '--json',
    );
    expect(JSON.parse(update.stdout)).toMatchObject({ pronouns: 'they/them', middleInitial: 'Q' });
    const list = async (...args: string[]) => {
      const line = ['patients', 'list', '--location', String(LOCATIONS.east), '--fields', 'id,pronouns', '--json'];
      return JSON.parse((await command(...line, ...args)).stdout);
    };
    const ann = { id: PATIENTS.ann, pronouns: 'they/them' };
    expect(await list('--middle-initial', 'Q')).toEqual([ann]);
    expect(await list()).toEqual([ann, { id: PATIENTS.bob, pronouns: null }, { id: PATIENTS.cleo, pronouns: null }]);
  });

  it('has both in help and in OpenAPI', async () => {
    expect((await command('patients', 'list', '--help')).stdout).toMatch(/--middle-initial=.*\n? *Middle initial/);
    const openapi = await (await fetch(`${served.url}/openapi.json`)).text();
    expect(openapi).toContain('middleInitial');
    expect(openapi).toContain('"pronouns"');
  });

  it('passes the check', async () => {
    const report = await command('server', 'check', '--data', join(place.path, 'data'), '--json');
    expect(JSON.parse(report.stdout)).toMatchObject({ ok: true, problems: [] });
  });
});
