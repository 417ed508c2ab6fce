import { beforeEach, describe, expect, it } from 'vitest';
import { localFailure } from '../../../src/core/failure.ts';
import { openConnection } from '../../../src/sqlite/open.ts';
import type { World } from '../../cli/runcommand.ts';
import type { Faithful } from '../../faithful/service.ts';
import type { Fields, Resource } from '../../faithful/store.ts';
import { START } from '../../support/clock.ts';
import { big, LOCATIONS, PATIENTS } from '../../support/ids.ts';
import { line } from '../../support/practice.ts';
import type { TestService } from '../../support/service.ts';
import { answer } from '../transport/script.ts';
import { clock, mirrorFolder, openFaithful, openServer, syncTo } from './mirroring.ts';
import { answered, disturbed } from './network.ts';
import { queried, wrongRows } from './oracle.ts';
import { serverRecords } from './practice.ts';

let file: string;

beforeEach(async () => {
  ({ file } = await mirrorFolder());
});

/** Syncs a resource, which succeeds, and gives what is wrong in its table then. */
async function wrongAfterSync(service: Faithful, resource: Resource): Promise<string[]> {
  const { exitCode, stderr } = await syncTo(file, [resource], { env: service.env });
  expect(exitCode, stderr).toBe(0);
  return wrongRows(file, resource, service.records(resource));
}

describe('lists of those whom a patient referred', () => {
  let service: TestService;
  let env: Readonly<Record<string, string>>;

  beforeEach(async () => {
    ({ service, env } = await openServer());
  });

  /** Syncs, and gives what is wrong then; `before` is called before each request. */
  async function sync(before: (url: string) => Promise<void> = async () => {}) {
    const openNetwork = answered(async (url) => {
      await before(decodeURIComponent(url));
      return url.replace('/stream', '/nothing');
    });
    const { exitCode, stderr } = await syncTo(file, ['patients', '--page-size', '3'], { env, openNetwork });
    expect(exitCode, stderr).toBe(0);
    return wrongRows(file, 'patients', (await serverRecords(service, ['patients'])).get('patients') ?? []);
  }

  async function refer(id: number, referrer: number | null) {
    service.clock.advance(20 * 60_000);
    const body = { referredByPatient: referrer === null ? null : { id: referrer } };
    expect((await service.call('PUT', `/patients/${id}`, { body })).status).toBe(200);
  }

  const { ann, bob, cleo } = PATIENTS;
  const dot = big(106);

  it('are right, though the patient did not change', async () => {
    expect(await sync()).toEqual([]);
    for (const referrer of [ann, cleo, null]) {
      await refer(bob, referrer);
      expect(await sync()).toEqual([]);
    }
  });

  it.each([
    ['the list of one is fetched', 'id->['],
    ['the ids are read', 'responseFields=id'],
  ])(
    'are right after the next sync when a referrer is itself referred by somebody else just before %s',
    async (_, asked) => {
      await refer(bob, ann);
      await refer(dot, bob);
      expect(await sync()).toEqual([]);
      await refer(dot, null);
      await refer(dot, bob);
      let left = 1;
      // What changes while this one reads may be wrong until the next one.
      await sync(async (url) => {
        if (url.includes(asked) && left-- > 0) await refer(bob, cleo);
      });
      expect(left).toBeLessThan(1);
      expect(await sync()).toEqual([]);
    },
  );

  it('are right when a patient appears that was not there before and has not changed since long', async () => {
    expect(await sync()).toEqual([]);
    service.clock.advance(60 * 60_000);
    const name = { firstName: 'Lou', lastName: 'Late', preferredLocation: { id: LOCATIONS.east } };
    const late = { ...name, id: big(150), referredByPatient: { id: ann }, lastModified: '2026-01-02T08:00:00Z' };
    await service.import([line('PatientV1', late)]);
    expect(await sync()).toEqual([]);
  });

  it('are right after a first load that reads the old referrer before a change, and the referred patient after it', async () => {
    await refer(dot, ann);
    let left = 1;
    const wrong = await sync(async (url) => {
      if (url.includes(`lastId=${cleo}`) && left-- > 0) await refer(dot, bob);
    });
    expect([left < 1, wrong]).toEqual([true, []]);
  });
});

it('lists of those whom a patient referred are right when one of them is gone', async () => {
  const service = await openFaithful({ seed: 'referrals' });
  const sync = () => wrongAfterSync(service, 'patients');
  const [referrer, referred] = service.records('patients').map(({ id }) => Number(id)) as [number, number];
  const lastModified = '2026-01-05T15:00:00.000Z';
  service.edit('patients', referrer, { referredPatients: [{ id: referred }], lastModified });
  service.edit('patients', referred, { referredByPatient: { id: referrer }, lastModified });
  expect(await sync()).toEqual([]);
  service.edit('patients', referrer, { referredPatients: [], lastModified });
  service.remove('patients', referred);
  expect(await sync()).toEqual([]);
});

it('only new histories are read while their count is right, and their ids once it is not', async () => {
  const service = await openFaithful({ seed: 'histories', practice: { histories: 20 } });
  const name = 'appointmenthistories';
  const sync = async () => {
    const before = service.requests.length;
    expect(await wrongAfterSync(service, name)).toEqual([]);
    return service.requests.slice(before).filter(({ query }) => query.responseFields === 'id').length;
  };
  await sync();
  service.add(name);
  expect(await sync()).toBe(0);
  const [gone] = service.records(name).map(({ id }) => Number(id)) as [number];
  service.remove(name, gone);
  expect(await sync()).toBeGreaterThan(0);
  expect(queried(file, 'SELECT id FROM appointment_histories_deleted')).toEqual([{ id: gone }]);
});

it('what changed shortly before the last sync, or has no time of change, is found', async () => {
  const service = await openFaithful({ seed: 'late' });
  const sync = () => wrongAfterSync(service, 'patients');
  const [late, undated] = service.records('patients').map(({ id }) => Number(id)) as [number, number];
  service.edit('patients', undated, { lastModified: null });
  expect(await sync()).toEqual([]);
  const minutes = (count: number) => new Date(START - count * 60_000).toISOString();
  service.edit('patients', late, { lastName: 'Late', lastModified: minutes(4) });
  service.edit('patients', undated, { lastName: 'Undated', lastModified: null });
  expect(await sync()).toEqual([]);
});

it('more records than are asked for at once are found by their ids', async () => {
  const service = await openFaithful({ seed: 'many', moods: { pageCap: 500 }, practice: { patients: 520 } });
  const sync = () => wrongAfterSync(service, 'patients');
  const ids = service.records('patients').map(({ id }) => Number(id));
  for (const id of ids) service.edit('patients', id, { lastModified: null });
  expect(await sync()).toEqual([]);
  service.edit('patients', ids.at(-1) ?? 0, { lastName: 'Changed', lastModified: null });
  expect(await sync()).toEqual([]);
  const connection = openConnection(file);
  connection.exec('DELETE FROM patients');
  connection.close();
  expect(await sync()).toEqual([]);
});

it('a record that is gone by the time it is asked for by its id is not asked for again', async () => {
  const service = await openFaithful({ seed: 'gone' });
  expect(await wrongAfterSync(service, 'patients')).toEqual([]);
  // No change tells of it, and its id is listed.
  const { id } = service.add('patients', { lastModified: null });
  let asked = 0;
  const openNetwork = disturbed(async (url) => {
    if (!url.includes('id-%3E')) return;
    if (++asked > 6) throw new Error('It goes on for ever.');
    if (asked === 1) service.remove('patients', Number(id));
  });
  const { exitCode, stderr } = await syncTo(file, ['patients'], { env: service.env, openNetwork });
  expect([exitCode, asked > 0], stderr).toEqual([0, true]);
  expect(wrongRows(file, 'patients', service.records('patients'))).toEqual([]);
});

it('records that a list does not get to are looked for by their ids before they are deleted', async () => {
  const service = await openFaithful({ seed: 'slow' });
  let slowAt: string | undefined;
  /** It counts nothing, and gives no range of time that has a certain one. */
  const openNetwork = answered((url) => {
    const { pathname, searchParams } = new URL(url);
    const filter = searchParams.get('filter') ?? '';
    const [, from = ''] = /lastModified>=([^,]+)/.exec(filter) ?? [];
    const [, to = '9'] = /lastModified<([^,]+)/.exec(filter) ?? [];
    const isSlow =
      pathname.endsWith('count') || (!filter.includes('id->') && from <= String(slowAt) && String(slowAt) < to);
    return slowAt !== undefined && pathname.includes('/patients') && isSlow ? answer(408, '') : undefined;
  });
  const sync = () => syncTo(file, ['patients'], { env: service.env, openNetwork });
  const [kept, gone] = service.records('patients') as [Fields, Fields];
  const lastModified = '1975-01-05T15:00:00.000Z';
  for (const { id } of [kept, gone]) service.edit('patients', Number(id), { lastModified });
  expect((await sync()).exitCode).toBe(0);
  slowAt = lastModified;
  service.remove('patients', Number(gone.id));
  const { exitCode, stderr } = await sync();
  expect(exitCode, stderr).toBe(0);
  expect(wrongRows(file, 'patients', service.records('patients'))).toEqual([]);
  expect(queried(file, 'SELECT id FROM patients_deleted')).toEqual([{ id: gone.id }]);
});

it('what a run had read that was killed is forgotten', async () => {
  const service = await openFaithful({ seed: 'killed' });
  const sync = (world: World = {}) => syncTo(file, ['documents', 'patients'], { env: service.env, ...world });
  expect((await sync()).exitCode).toBe(0);
  const document = service.add('documents');
  const killed = new AbortController();
  service.onRequest = ({ path }) => {
    if (path === '/api/v1/patients') killed.abort(localFailure('run.interrupted', 'Killed.'));
  };
  expect((await sync({ signal: killed.signal })).exitCode).not.toBe(0);
  service.onRequest = undefined;
  service.remove('documents', Number(document.id));
  expect((await sync()).exitCode).toBe(0);
  expect(wrongRows(file, 'documents', service.records('documents'))).toEqual([]);
});

it('what changes while a first load runs is right at its end', async () => {
  const service = await openFaithful({ seed: 'meanwhile', moods: { pageCap: 10 } });
  const [changed] = service.records('patients').map(({ id }) => Number(id)) as [number];
  let requests = 0;
  service.onRequest = ({ path }) => {
    if (path === '/api/v1/patients' && ++requests === 4) service.edit('patients', changed, { lastName: 'Changed' });
  };
  const { exitCode } = await syncTo(file, ['patients'], { env: service.env });
  expect([exitCode, requests > 4]).toEqual([0, true]);
  expect(wrongRows(file, 'patients', service.records('patients'))).toEqual([]);
});

it('what changes after an interrupted first load has read it is right, however many runs the load takes', async () => {
  let time = START;
  let left = 0;
  const service = await openFaithful({
    ...{ seed: 'interrupted', moods: { pageCap: 10 }, practice: { patients: 250 }, now: () => ++time },
    faults: (kind) => (kind.includes('/patients?') && --left < 0 ? { kind: 'error500', after: false } : undefined),
  });
  const sync = async (pages: number) => {
    left = pages;
    time += 20 * 60_000;
    return (await syncTo(file, ['patients'], { env: service.env, clock: { ...clock, now: () => ++time } })).exitCode;
  };
  expect(await sync(12)).toBe(8);
  const [{ id } = {}] = queried(file, 'SELECT min(id) AS id FROM patients');
  time += 20 * 60_000;
  service.edit('patients', Number(id), { lastName: 'Changed' });
  expect([await sync(12), await sync(Number.POSITIVE_INFINITY)]).toEqual([8, 0]);
  expect(wrongRows(file, 'patients', service.records('patients'))).toEqual([]);
});

it('says how changes and deletions are known, and as of when: the start of the last run', async () => {
  const service = await openFaithful({ seed: 'known' });
  let time = START;
  let began: number | undefined;
  service.onRequest = () => {
    began ??= time;
  };
  const world = { env: service.env, clock: { ...clock, now: () => ++time } };
  const names = ['patients', 'transactiontags', 'missedappointments'];
  const known = () =>
    queried(file, 'SELECT resource AS name, changes, deletes, position, as_of FROM _mirror WHERE complete ORDER BY 1');
  for (const last of [undefined, ...names]) {
    began = undefined;
    const before = last === undefined ? [] : known();
    const { exitCode } = await syncTo(file, last ? [last] : names, world);
    expect(exitCode).toBe(0);
    expect(known().map(({ as_of, ...each }) => each)).toEqual([
      { name: 'missedappointments', changes: 'whole', deletes: 'whole', position: null },
      { name: 'patients', changes: 'lastModified', deletes: 'ids', position: null },
      { name: 'transactiontags', changes: 'whole', deletes: 'whole', position: null },
    ]);
    for (const { name, as_of } of known()) {
      const old = before.find((each) => each.name === name)?.as_of;
      if (last !== undefined && name !== last) expect(as_of).toBe(old);
      else expect(Date.parse(String(as_of))).toBeLessThanOrEqual(Number(began));
    }
  }
});
