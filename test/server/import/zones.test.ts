import sql from 'sql-template-tag';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rowOf, type WireRecord } from '../../support/calls.ts';
import { LOCATIONS, OPERATORIES, OTHER_ORGANIZATION, PATIENTS, PROVIDERS, TOKENS } from '../../support/ids.ts';
import { bareRecords, line } from '../../support/practice.ts';
import { type TestService, testService } from '../../support/service.ts';

/** Denver is at UTC−7 in January, New York at −5, Los Angeles at −8. */
const visit = (id: number, record: WireRecord) =>
  line('AppointmentV1', { id, patient: { id: PATIENTS.ann }, provider: { id: PROVIDERS.ann }, ...record });

const records = [
  visit(1, { start: '2026-01-15T09:00:00', operatory: { id: OPERATORIES.one } }),
  visit(2, { start: '2026-01-15 09:00', operatory: { id: OPERATORIES.three }, confirmed: '2026-01-14T08:00:00.25' }),
  visit(3, { start: '2026-01-15T09:00:00Z', operatory: { id: OPERATORIES.one } }),
  visit(4, { start: '2026-01-15T09:00:00+02:00', operatory: { id: OPERATORIES.one } }),
  visit(5, { start: '2026-01-15T09:00:00', operatory: { id: 88 } }),
  line('EventV1', {
    ...{ id: 7, title: 'Closed', start: '2026-01-15T09:00:00', duration: 60 },
    location: { id: LOCATIONS.west },
  }),
  line('Operatory', { id: 88, location: { id: LOCATIONS.home } }),
  line('PatientV1', {
    id: 6,
    firstName: 'A',
    lastName: 'B',
    firstVisitDate: '2026-01-15T09:00:00',
    preferredLocation: { id: LOCATIONS.home },
  }),
];

describe('local times of an import (D7)', () => {
  let service: TestService;
  beforeEach(async () => {
    service = await testService(bareRecords());
  });
  afterEach(() => service.close());

  it('stand in the zone of their location, whenever that is told of', async () => {
    // Every zone is told only after the times that stand in it.
    const late = await testService([...records, ...bareRecords().toReversed()]);
    await service.import(records);
    for (const each of [late, service]) {
      const starts = async (...paths: string[]) => {
        const found = [];
        for (const path of paths) found.push(rowOf(await each.call('GET', path)).start);
        return found;
      };
      expect(await starts('/appointments/1', '/appointments/2', '/events/7')).toEqual([
        '2026-01-15T14:00:00.000Z',
        '2026-01-15T17:00:00.000Z',
        // Of a location that no operatory leads to.
        '2026-01-15T17:00:00.000Z',
      ]);
      // UTC where it says so, and an offset.
      expect(await starts('/appointments/3', '/appointments/4')).toEqual([
        '2026-01-15T09:00:00.000Z',
        '2026-01-15T07:00:00.000Z',
      ]);
      // The zone of the organization where the location has none, and where there is no location.
      expect(await starts('/appointments/5')).toEqual(['2026-01-15T16:00:00.000Z']);
      const { firstVisitDate } = rowOf(await each.call('GET', '/patients/6'));
      expect(firstVisitDate).toBe('2026-01-15T16:00:00.000Z');
      // Every field of a record.
      const { confirmed } = rowOf(await each.call('GET', '/appointments/2'));
      expect(confirmed).toBe('2026-01-14T16:00:00.250Z');
    }
    await late.close();
  });

  it('stand in the zone that the last line before them has told of', async () => {
    const place = (zone: string, id: number = LOCATIONS.home, organization?: string) =>
      line('Location', { id, name: 'Moved', timezone: zone }, organization);
    const room = (location: number, id = 91) => line('Operatory', { id, location: { id: location } });
    const at = (id: number, operatory = 91) =>
      visit(id, { start: '2026-01-15T09:00:00', operatory: { id: operatory } });
    const closed = (id: number, location: number, organization?: string) => {
      const event = { id, title: 'Closed', start: '2026-01-15T09:00:00', duration: 60, location: { id: location } };
      return line('EventV1', event, organization);
    };
    const gone = (type: string, id: number) => line(type, { id, deleted: true });
    const { two } = OPERATORIES;
    const lines = [
      ...[place('America/New_York'), room(LOCATIONS.home), at(1), place('UTC'), at(2)],
      ...[room(LOCATIONS.west), at(3), place('America/New_York'), room(LOCATIONS.home), at(4)],
      // An operatory comes before its location.
      ...[room(92, 92), at(5, 92), place('America/Los_Angeles', 92)],
      // What is deleted is told of again only after what stands in its zone.
      ...[at(6, two), gone('Operatory', two), at(7, two), room(LOCATIONS.west, two)],
      ...[place('America/New_York', 94), closed(1, 94), gone('Location', 94), closed(2, 94), place('UTC', 94)],
      // Another organization has one under the same id.
      ...[place('Asia/Tokyo', 94, OTHER_ORGANIZATION), closed(1, 94, OTHER_ORGANIZATION), closed(3, 94)],
    ];
    const fresh = await testService([...bareRecords(), ...lines]);
    await service.import(lines);
    for (const each of [fresh, service]) {
      const hours = async (path: string, call = {}) => {
        const { body } = await each.call('GET', path, call);
        return (body.data as WireRecord[]).map(({ start }) => String(start).slice(11, 13)).join(' ');
      };
      expect(await hours('/appointments')).toBe('14 09 17 14 17 14 17');
      expect(await hours('/events')).toBe('14 09 09');
      expect(await hours('/events', { organization: OTHER_ORGANIZATION, token: TOKENS.other })).toBe('00');
    }
    await fresh.close();
  });

  it('wait for a location that comes later, where the zone of the organization is known', async () => {
    const event = { id: 8, title: 'Closed', start: '2026-01-15T09:00:00', duration: 60, location: { id: 9 } };
    const place = { id: 9, name: 'Coast', timezone: 'America/Los_Angeles' };
    await service.import([line('EventV1', event), line('Location', place)]);
    expect(rowOf(await service.call('GET', '/events/8'))).toMatchObject({ start: '2026-01-15T17:00:00.000Z' });
  });

  it('stand in UTC for tokens', async () => {
    const [EARLY, LATE] = ['token-that-is-early', 'token-that-is-late'];
    const token = (name: string, expiresAt: string) => ({
      type: 'AccessToken',
      token: name,
      organizations: ['x'],
      scopes: [],
      expiresAt,
    });
    // The clock of the tests stands at 12:00 UTC.
    await service.import([token(EARLY, '2026-03-02T12:00:00'), token(LATE, '2026-03-02T12:00:01')]);
    const status = async (name: string) =>
      (await service.call('GET', '/patients', { token: name })).body.errors[0]?.code;
    expect(await status(EARLY)).toBe('auth.token_expired');
    expect(await status(LATE)).toBe('auth.organization_forbidden');
    expect(await status(TOKENS.full)).toBeUndefined();
  });
});

describe('the creation date of an organization', () => {
  it.each([
    ['2020-01-01', '2020-01-01T07:00:00.000Z'],
    ['2020-07-01', '2020-07-01T06:00:00.000Z'],
    ['2020-01-01T10:00:00', '2020-01-01T17:00:00.000Z'],
    ['2020-01-01T10:00:00+01:00', '2020-01-01T09:00:00.000Z'],
    [undefined, '2026-03-02T12:00:00.000Z'],
  ])('%s is %s', async (createdDate, created) => {
    const service = await testService([{ type: 'Organization', id: 'x', timezone: 'America/Denver', createdDate }]);
    const [row] = await service.service.store.read.all(sql`SELECT created_date FROM organizations`);
    expect(row).toEqual({ created_date: created });
    await service.close();
  });
});
