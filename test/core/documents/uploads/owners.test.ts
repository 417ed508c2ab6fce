import { describe, expect, it } from 'vitest';
import { refuseUnknownOwners } from '../../../../src/core/documents/uploads/owners.ts';
import { ApiClient } from '../../../../src/core/transport/client.ts';
import { staticToken } from '../../../../src/core/transport/token.ts';
import { bytes } from '../fakeserver.ts';
import { ready } from './uploading.ts';

/** A client of a server that has some patients; `status` answers instead of them. */
function clientOf(patients: readonly number[], status = 200) {
  const asked: URLSearchParams[] = [];
  const client = new ApiClient({
    baseUrl: 'https://api.example.com',
    organization: 'org-1',
    token: staticToken('secret'),
    retry: { maxRetries: 0, base: 1, ceiling: 1, longestWait: 1 },
    send: async ({ url }) => {
      const { searchParams } = new URL(url);
      asked.push(searchParams);
      const [, list = ''] = /^id->\[(.*)\]$/.exec(searchParams.get('filter') ?? '') ?? [];
      const after = Number(searchParams.get('lastId'));
      const wanted = list.split(',').map(Number);
      const found = patients.filter((id) => wanted.includes(id) && id > after).sort((one, other) => one - other);
      const data = found.slice(0, Number(searchParams.get('pageSize'))).map((id) => ({ id }));
      const errors = [{ code: 'some.code', title: 'Title', description: 'Why.', source: null }];
      const body = status === 200 ? { data, warnings: [], errors: [] } : { data: null, warnings: [], errors };
      return { status, headers: {}, body: bytes(JSON.stringify(body)) };
    },
  });
  return { client, asked };
}

describe('the owners of documents', () => {
  it('are looked up once each, a hundred at a time, and rows of those that do not exist are refused', async () => {
    const patients = Array.from({ length: 250 }, (_, index) => 1000 + index);
    const known = patients.filter((id) => id !== 1007 && id !== 1240);
    const { client, asked } = clientOf(known);
    const plan = [...patients, 1007, 1008].map((id) => ready(`${id}.pdf`, 'x', { patient: String(id) }));
    const checked = await refuseUnknownOwners(plan, async () => client);
    const refused = checked.plan.flatMap((planned) => (planned.kind === 'refused' ? [planned] : []));
    expect(refused.map(({ row }) => row.file)).toEqual(['1007.pdf', '1240.pdf', '1007.pdf']);
    expect(refused[0]?.failure).toMatchObject({ exitCode: 4, message: '1007.pdf: There is no patient 1007.' });
    expect(checked.plan.filter(({ kind }) => kind === 'ready')).toHaveLength(249);
    const sizes = asked.map((query) => (query.get('filter') ?? '').split(',').length);
    expect([...new Set(sizes)]).toEqual([100, 50]);
    expect(asked.every((query) => query.get('responseFields') === 'id')).toBe(true);
  });

  it('are not asked for where the organization or an exam owns the documents', async () => {
    const { client, asked } = clientOf([]);
    const planned = ready('a.pdf', 'x');
    if (planned.kind !== 'ready') throw new Error('not ready');
    const owners = [
      { field: 'ownerOrganization', id: 'org-1' },
      { field: 'ownerPerioExam', id: '9' },
    ] as const;
    const plan = owners.map((owner) => ({ ...planned, upload: { ...planned.upload, owner } }));
    expect(await refuseUnknownOwners(plan, async () => client)).toEqual({ plan });
    expect(asked).toEqual([]);
  });

  it('are left to the server when the token may not read patients', async () => {
    const plan = [ready('a.pdf', 'x')];
    expect(await refuseUnknownOwners(plan, async () => clientOf([], 403).client)).toEqual({
      plan,
      note: expect.stringContaining('may not read patients'),
    });
  });

  it.each([
    [401, 3],
    [500, 8],
  ])('that cannot be looked up end the run: HTTP %i', async (status, exitCode) => {
    await expect(
      refuseUnknownOwners([ready('a.pdf', 'x')], async () => clientOf([], status).client),
    ).rejects.toMatchObject({
      exitCode,
    });
  });
});
