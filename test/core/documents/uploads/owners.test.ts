import { describe, expect, it } from 'vitest';
import { staticToken } from '../../../../src/core/connection/credentials.ts';
import { refuseUnknownOwners } from '../../../../src/core/documents/uploads/owners.ts';
import type { PlannedUpload } from '../../../../src/core/documents/uploads/plan.ts';
import { localFailure } from '../../../../src/core/failure.ts';
import { ApiClient } from '../../../../src/core/transport/client.ts';
import { bytes } from '../fakeserver.ts';
import { ready } from './uploading.ts';

interface Patients {
  /** Those that the list does not have: not changed for a year, say. */
  readonly unlisted?: readonly number[];
  /** Statuses that the list, and one patient, answer with instead of what is there. */
  readonly list?: number;
  readonly one?: number;
  /** Rows that the list gives at most. */
  readonly most?: number;
  /** The list refuses a filter that names no location (D12). */
  readonly wantsLocation?: boolean;
}

/** A client of a service that has some patients. */
function clientOf(known: readonly number[], habits: Patients = {}) {
  const { unlisted = [], list = 200, one = 200, most = 500, wantsLocation = false } = habits;
  const asked: URLSearchParams[] = [];
  const confirmed: string[] = [];
  const envelope = (status: number, data: unknown) => {
    const errors = status < 300 ? [] : [{ code: 'some.code', title: 'Title', description: 'Why.', source: null }];
    return { status, headers: {}, body: bytes(JSON.stringify({ data, warnings: [], errors })) };
  };
  const client = new ApiClient({
    baseUrl: 'https://api.example.com',
    organization: 'org-1',
    token: staticToken('secret'),
    retry: { maxRetries: 0, base: 1, ceiling: 1, longestWait: 1 },
    send: async ({ url }) => {
      const { searchParams, pathname } = new URL(url);
      const id = /\/patients\/(\d+)$/.exec(pathname)?.[1];
      if (id !== undefined) {
        confirmed.push(id);
        if (one !== 200) return envelope(one, null);
        return [...known, ...unlisted].includes(Number(id)) ? envelope(200, { id: Number(id) }) : envelope(404, null);
      }
      asked.push(searchParams);
      if (list !== 200) return envelope(list, null);
      const filter = searchParams.get('filter') ?? '';
      if (wantsLocation && !filter.endsWith(',preferredLocation.id->["ALL"]')) return envelope(400, null);
      const [, wanted = ''] = /^id->\[([\d,]*)\]/.exec(filter) ?? [];
      const after = Number(searchParams.get('lastId'));
      const ids = wanted.split(',').map(Number);
      const found = known.filter((each) => ids.includes(each) && each > after).sort((first, other) => first - other);
      const size = Math.min(most, Number(searchParams.get('pageSize')));
      return envelope(
        200,
        found.slice(0, size).map((each) => ({ id: each })),
      );
    },
  });
  return { client, asked, confirmed };
}

const filesOf = (patients: readonly number[]) => patients.map((id) => ready(`${id}.pdf`, 'x', { patient: String(id) }));

describe('the owners of documents', () => {
  it('are looked up once each, a hundred at a time, and rows of those that do not exist are refused', async () => {
    const patients = Array.from({ length: 250 }, (_, index) => 1000 + index);
    const known = patients.filter((id) => id !== 1007 && id !== 1240);
    const { client, asked, confirmed } = clientOf(known);
    const checked = await refuseUnknownOwners(filesOf([...patients, 1007, 1008]), async () => client);
    const refused = checked.plan.flatMap((planned) => (planned.kind === 'refused' ? [planned] : []));
    expect(refused.map(({ row }) => row.file)).toEqual(['1007.pdf', '1240.pdf', '1007.pdf']);
    expect(refused[0]?.failure).toMatchObject({ exitCode: 4, message: '1007.pdf: There is no patient 1007.' });
    expect(checked.plan.filter(({ kind }) => kind === 'ready')).toHaveLength(249);
    expect(checked.note).toBeUndefined();
    const sizes = asked.map((query) => (query.get('filter') ?? '').split(',').length);
    expect([...new Set(sizes)]).toEqual([100, 50]);
    expect(asked.every((query) => query.get('responseFields') === 'id')).toBe(true);
    expect(confirmed.toSorted()).toEqual(['1007', '1240']);
  });

  it.each<[string, Patients]>([
    ['that the list leaves out', { unlisted: [5, 6, 7, 8] }],
    ['of a list with pages of its own size', { most: 1 }],
    ['of a list that has none', { most: 0 }],
    ['of a list that wants a filter on locations', { wantsLocation: true }],
  ])('are known %s', async (_name, habits) => {
    const { client, confirmed } = clientOf([1, 2, 3, 4], habits);
    const all = [1, 2, 3, 4, ...(habits.unlisted ?? [])];
    const plan = filesOf([...all, 99]);
    const checked = await refuseUnknownOwners(plan, async () => client);
    expect(checked.plan.slice(0, -1)).toEqual(plan.slice(0, -1));
    expect(checked.plan.at(-1)?.kind).toBe('refused');
    expect(confirmed.length).toBe(habits.most === 0 ? 5 : 1 + (habits.unlisted?.length ?? 0));
  });

  it.each([
    [99, [99]],
    [100, [100]],
    [101, [100, 1]],
  ])('are looked up a hundred at a time: %i', async (count, sizes) => {
    const patients = Array.from({ length: count }, (_, index) => 1000 + index);
    const { client, asked, confirmed } = clientOf(patients);
    const plan = filesOf(patients);
    expect(await refuseUnknownOwners(plan, async () => client)).toEqual({ plan });
    const filters = new Set(asked.map((query) => query.get('filter') ?? ''));
    expect([...filters].map((filter) => filter.split(',').length)).toEqual(sizes);
    expect(confirmed).toEqual([]);
  });

  it('are refused with what is wrong, and what to do', async () => {
    const { client } = clientOf([]);
    const { plan } = await refuseUnknownOwners([ready('a.pdf', 'x')], async () => client);
    expect(plan).toEqual([
      {
        kind: 'refused',
        row: { file: 'a.pdf', tags: [], patient: '5' },
        failure: expect.objectContaining({
          ...{ code: 'record.not_found', exitCode: 4, message: 'a.pdf: There is no patient 5.' },
          items: [
            {
              ...{ code: 'record.not_found', title: 'Not found', source: 'patient' },
              description: 'There is no patient 5.',
            },
          ],
          hint: expect.stringContaining('molar patients list'),
        }),
      },
    ]);
  });

  it('leave rows alone that were refused before, or are done', async () => {
    const refused = { kind: 'refused', row: { file: 'r.pdf', patient: '5', tags: [] } } as unknown as PlannedUpload;
    const done = { kind: 'done', row: { file: 'd.pdf', patient: '5', tags: [] } } as unknown as PlannedUpload;
    const connect = () => Promise.reject(new Error('connected'));
    expect(await refuseUnknownOwners([refused, done], connect)).toEqual({ plan: [refused, done] });
    const { client } = clientOf([]);
    const { plan } = await refuseUnknownOwners([refused, ready('a.pdf', 'x'), done], async () => client);
    expect(plan.map(({ kind }) => kind)).toEqual(['refused', 'refused', 'done']);
    expect([plan[0], plan[2]]).toEqual([refused, done]);
  });

  it('are asked for by their id alone, at most four at the same time', async () => {
    const ids = Array.from({ length: 20 }, (_, index) => index + 1);
    const { client } = clientOf([], { unlisted: ids });
    const { request } = client;
    const fields: unknown[] = [];
    let running = 0;
    let most = 0;
    Object.assign(client, {
      request: async (asked: Parameters<typeof request>[0]) => {
        if (!/\d$/.test(asked.path)) return request.call(client, asked);
        fields.push(asked.query);
        most = Math.max(most, ++running);
        for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
        return request.call(client, asked).finally(() => running--);
      },
    });
    const plan = filesOf(ids);
    expect(await refuseUnknownOwners(plan, async () => client)).toEqual({ plan });
    expect(most).toBe(4);
    expect(fields).toEqual(ids.map(() => ({ responseFields: 'id' })));
  });

  it('that do not exist are refused though another could not be looked up', async () => {
    const { client } = clientOf([]);
    const { request } = client;
    const broken = clientOf([], { one: 403 });
    Object.assign(client, {
      request: (asked: Parameters<typeof request>[0]) =>
        request.call(asked.path.endsWith('/2') ? broken.client : client, asked),
    });
    const { plan, note } = await refuseUnknownOwners(filesOf([1, 2]), async () => client);
    expect(plan.map(({ kind }) => kind)).toEqual(['refused', 'ready']);
    expect(note).toBe('The token may not read patients, so the server will report which do not exist.');
  });

  it.each([400, 403, 408, 503])('are left to the server where one cannot be asked for: HTTP %i', async (one) => {
    const { client, confirmed } = clientOf([1], { one });
    const plan = filesOf(Array.from({ length: 30 }, (_, id) => id + 1));
    const checked = await refuseUnknownOwners(plan, async () => client);
    expect(checked.plan).toEqual(plan);
    expect(checked.note).toContain('the server will report which do not exist');
    expect(checked.note?.startsWith('The token may not')).toBe(one === 403);
    // What is wrong would be wrong for each of them.
    expect(confirmed.length).toBeLessThan(10);
  });

  it('are not asked for where the organization or an exam owns the documents', async () => {
    const { client, asked } = clientOf([]);
    const planned = ready('a.pdf', 'x');
    const owners = [
      { field: 'ownerOrganization', id: 'org-1' },
      { field: 'ownerPerioExam', id: '9' },
    ] as const;
    const plan = owners.map((owner) => ({ ...planned, upload: { ...planned.upload, owner } }));
    expect(await refuseUnknownOwners(plan, async () => client)).toEqual({ plan });
    expect(asked).toEqual([]);
  });

  it.each([
    [400, 'could be looked up'],
    [403, 'may not read patients'],
    [404, 'could be looked up'],
    [405, 'could be looked up'],
    [408, 'could be looked up'],
  ])('are left to the server when they cannot be looked up: HTTP %i', async (list, why) => {
    const plan = [ready('a.pdf', 'x')];
    const { client, confirmed } = clientOf([], { list });
    expect(await refuseUnknownOwners(plan, async () => client)).toEqual({ plan, note: expect.stringContaining(why) });
    expect(confirmed).toEqual([]);
  });

  it.each([
    ['the list', { list: 401 }, 3],
    ['the list', { list: 500 }, 8],
    ['one of them', { one: 401 }, 3],
  ])('end the run where %s answers %o', async (_name, habits, exitCode) => {
    const { client } = clientOf([], habits);
    await expect(refuseUnknownOwners([ready('a.pdf', 'x')], async () => client)).rejects.toMatchObject({ exitCode });
  });

  it.each(['the list', 'one of them'])('end the run where it is interrupted at %s', async (at) => {
    const controller = new AbortController();
    const { client } = clientOf([]);
    const { request } = client;
    Object.assign(client, {
      request: async (asked: Parameters<typeof request>[0]) => {
        if (/\d$/.test(asked.path) === (at === 'one of them')) controller.abort(new Error('interrupted'));
        return request.call(client, asked);
      },
    });
    await expect(refuseUnknownOwners([ready('a.pdf', 'x')], async () => client, controller.signal)).rejects.toThrow(
      'interrupted',
    );
  });

  it('end the run where it is interrupted with a failure', async () => {
    const controller = new AbortController();
    const failure = localFailure('run.terminated', 'Terminated.');
    const { client } = clientOf([], { one: 503 });
    const { request } = client;
    Object.assign(client, {
      request: async (asked: Parameters<typeof request>[0]) => {
        if (/\d$/.test(asked.path)) controller.abort(failure);
        return request.call(client, asked);
      },
    });
    await expect(refuseUnknownOwners([ready('a.pdf', 'x')], async () => client, controller.signal)).rejects.toBe(
      failure,
    );
  });

  it('end the run where something breaks', async () => {
    const { client } = clientOf([]);
    const { request } = client;
    Object.assign(client, {
      request: async (asked: Parameters<typeof request>[0]) => {
        if (/\d$/.test(asked.path)) throw new TypeError('broken');
        return request.call(client, asked);
      },
    });
    await expect(refuseUnknownOwners([ready('a.pdf', 'x')], async () => client)).rejects.toThrow('broken');
  });
});
