import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { idsOf, rowOf } from '../../support/calls.ts';
import { dump } from '../../support/dump.ts';
import { PDF } from '../../support/files.ts';
import { big, ELSEWHERE, EXAMS, ORGANIZATION, OTHER_ORGANIZATION, TOKENS } from '../../support/ids.ts';
import { allRecords, bareRecords, line } from '../../support/practice.ts';
import { FIXTURES } from '../../support/resources.ts';
import { type TestService, testService } from '../../support/service.ts';

let service: TestService;
beforeEach(async () => {
  service = await testService(bareRecords());
});
afterEach(() => service.close());

const gone = (type: string, id: number) => line(type, { id, deleted: true });

it('deletions take out whatever the fixtures put in', async () => {
  await service.import(allRecords());
  const fixtures = FIXTURES.flatMap(({ resource, records }) =>
    records.map(({ id }) => gone(resource.type, Number(id))),
  );
  await service.import([
    ...fixtures,
    gone('PerioExam', EXAMS.one),
    gone('PerioExam', EXAMS.two),
    gone('InsuranceClaim', big(71)),
    gone('InsuranceClaim', big(72)),
  ]);
  const left = await dump(service.service);
  for (const { resource } of FIXTURES.filter((fixture) => !fixture.resource.computed)) {
    expect(
      left[resource.name]?.filter((row) => row.includes(ORGANIZATION)),
      resource.name,
    ).toEqual([]);
  }
});

describe('deleted organizations', () => {
  const organization = { type: 'Organization', id: OTHER_ORGANIZATION, deleted: true };
  const there = (type: string, id: number) => line(type, { id, deleted: true }, OTHER_ORGANIZATION);
  const exam = there('PerioExam', ELSEWHERE.exam);
  const claim = there('InsuranceClaim', ELSEWHERE.claim);

  it('go with their references, in any order with the deletion of their records', async () => {
    const records = [organization, there('PatientV1', ELSEWHERE.patient), exam, claim];
    await service.import(records);
    const called = await service.call('GET', '/patients', { organization: OTHER_ORGANIZATION, token: TOKENS.other });
    expect(called.status).toBe(403);
    const left = await dump(service.service);
    expect(left.organizations).toHaveLength(1);
    expect(left.reference_records?.filter((row) => row.includes('lsewhere'))).toEqual([]);
  });

  it.each([
    ['there', true],
    ['gone', false],
  ])('are %s by the last of their lines, at once and in parts', async (_name, isThere) => {
    const own = { type: 'Organization', id: 'again', timezone: 'UTC' };
    const place = line('Location', { id: 1, name: 'Here' }, 'again');
    const lines = [own, place, { ...own, deleted: true }];
    const records = isThere ? lines.toReversed() : lines;
    const fresh = await testService([...bareRecords(), ...records]);
    await service.import(records);
    for (const each of [fresh, service]) {
      const { organizations = [] } = await dump(each.service);
      expect(organizations.some((row) => row.includes('again'))).toBe(isThere);
    }
    await fresh.close();
  });

  it('may be unknown, and so may lines be about their references', async () => {
    const records = [line('Location', { id: 1, name: 'Here' }, 'nosuch'), { ...organization, id: 'nosuch' }];
    const fresh = await testService([...bareRecords(), ...records]);
    await service.import(records);
    for (const each of [fresh, service]) {
      const { organizations, reference_records = [] } = await dump(each.service);
      expect(organizations).toHaveLength(2);
      expect(reference_records.filter((row) => row.includes('Here'))).toEqual([]);
    }
    await fresh.close();
  });

  it('leave nothing to an organization that comes after them', async () => {
    await service.import([organization, there('PatientV1', ELSEWHERE.patient), exam, claim]);
    await service.import([
      { type: 'Organization', id: 'next', timezone: 'UTC' },
      {
        type: 'AccessToken',
        token: 'token-of-the-next',
        organizations: ['next'],
        scopes: ['model:read', 'model:write'],
      },
    ]);
    const body = { name: 'a', mimeType: 'PDF', file: { content: PDF } };
    const made = rowOf(
      await service.call('POST', '/documents', { organization: 'next', token: 'token-of-the-next', body }),
    );
    expect(made).toMatchObject({ id: 1, ownerOrganization: { id: 'next' } });
    expect(idsOf(await service.call('GET', '/patients', { organization: 'next', token: 'token-of-the-next' }))).toEqual(
      [],
    );
  });
});
