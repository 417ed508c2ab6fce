import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ask, rowsOf } from './asking.ts';
import type { Moods } from './moods.ts';
import { type Faithful, startFaithful } from './service.ts';

type Row = Readonly<Record<string, unknown>>;

describe('writes', () => {
  let service: Faithful;
  beforeEach(() => start({}));
  afterEach(() => service.close());

  async function start(moods: Partial<Moods>) {
    service = await startFaithful({ seed: 'writing', moods });
  }

  async function write(method: string, path: string, body?: unknown, status = 200): Promise<Row> {
    const got = await ask(service, path, undefined, { method, body });
    expect(got.status).toBe(status);
    expect(service.violations).toEqual([]);
    return got.body.data as Row;
  }

  const upload = (more: Row, status = 201) =>
    write('POST', '/documents', { name: 'report', mimeType: 'PDF', file: { content: 'YWJj' }, ...more }, status);

  it('documents: extension, numbers of equal base names, owner, content on another origin', async () => {
    const [patient] = service.records('patients');
    const first = await upload({ ownerPatient: { id: patient?.id } });
    const second = await upload({ ownerPatient: { id: String(patient?.id) }, mimeType: 'PNG' });
    const elsewhere = await upload({});
    expect([first, second, elsewhere].map(({ name }) => name)).toEqual(['report.pdf', 'report (1).png', 'report.pdf']);
    expect(elsewhere).toMatchObject({ ownerType: 'Organization', ownerOrganization: { id: service.organization } });
    const { original } = first.storage as { original: string };
    expect(new URL(original).origin).not.toBe(service.url);
    expect(await (await fetch(original, { headers: { range: 'bytes=1-' } })).text()).toBe('abc');
    expect((await fetch(original.replace(/=.*/, '=0'))).status).toBe(403);
    await fetch(original, { headers: { authorization: 'Bearer x' } });
    expect(service.violations).toEqual([expect.objectContaining({ what: 'authorization sent to another origin' })]);
  });

  it('documents: a type of JPEG, tags in another letter case, an update of both', async () => {
    await service.close();
    await start({ jpegExtension: 'jpg', tagCase: 'upper' });
    const { id, ...created } = await upload({ mimeType: 'JFIF', tags: ['Xray', 'consent', 'XRAY'] });
    expect(created).toMatchObject({ name: 'report.jpg', mimeType: 'JPEG', tags: ['XRAY', 'Consent'] });
    expect(await write('PUT', `/documents/${id}`, { name: 'report' })).toMatchObject({ name: 'report.jpg' });
    expect(await write('PUT', `/documents/${id}`, { tags: [] })).toMatchObject({ name: 'report.jpg', tags: [] });
    expect(await write('DELETE', `/documents/${id}`)).toEqual({ id });
    await write('DELETE', `/documents/${id}`, undefined, 404);
  });

  it('patients: created, changed, never with links that lead nowhere', async () => {
    const [{ id: _id, lastModified, firstVisitDate, referredPatients, ...like } = {}] = service.records('patients');
    const created = await write('POST', '/patients', { ...like, firstName: 'New' }, 201);
    expect(created).toMatchObject({ firstName: 'New', referredPatients: [], firstVisitDate: null });
    const changed = await write('PUT', `/patients/${created.id}?responseFields=city`, { city: 'Testville' });
    expect(changed).toEqual({ city: 'Testville' });
    await write('POST', '/patients', { ...like, preferredLocation: { id: 1 } }, 400);
    const phone = { phoneType: 'HOME', number: '1', sequence: 1 };
    await write('POST', '/patients', { ...like, phones: [phone, phone] }, 400);
    const types = [{ anything: 'goes' }];
    await write('POST', `/patients/${created.id}/billingtypes`, types);
    expect(await write('GET', `/patients/${created.id}/billingtypes`)).toEqual(types);
  });

  it('events: a whole day begins at midnight of the location, others end on the day they begin', async () => {
    const [denver] = service.practice.locations;
    const event = { title: 'Closed', start: '2026-03-02T12:00:00-07:00', location: { id: denver?.id } };
    expect(await write('POST', '/events', { ...event, allDay: true }, 201)).toMatchObject({
      start: '2026-03-02T07:00:00.000Z',
      duration: 1439,
      end: '2026-03-03T06:59:00.000Z',
    });
    await write('POST', '/events', { ...event, duration: 720 }, 400);
    const [, , entity, inactive] = service.practice.providers;
    await write('POST', '/events', { ...event, provider: { id: entity?.id } }, 400);
    await write('POST', '/events', { ...event, provider: { id: inactive?.id } }, 400);
    await write('POST', '/events', { ...event, operatory: { id: service.practice.operatories.at(-1)?.id } }, 400);
  });

  it('events: a series, in local time over the change of clocks, changed and deleted from one on', async () => {
    const [denver] = service.practice.locations;
    const series = {
      title: 'Huddle',
      start: '2026-03-02T08:00:00-07:00',
      duration: 15,
      location: { id: denver?.id },
      recurrenceType: 'WEEKLY',
      recurrenceStart: '2026-03-02',
      recurrenceEnd: '2026-03-20',
      recurrenceFrequency: 1,
      recurrenceDays: ['MONDAY', 'FRIDAY'],
    };
    const first = await write('POST', '/events', series, 201);
    const ofGroup = () => service.records('events').filter(({ groupId }) => groupId === first.groupId);
    const starts = () =>
      ofGroup()
        .map(({ start: at }) => String(at).slice(5, 13))
        .sort();
    expect(starts()).toEqual(['03-02T15', '03-06T15', '03-09T14', '03-13T14', '03-16T14', '03-20T14']);
    const third = ofGroup().find(({ start: at }) => String(at).startsWith('2026-03-09'));
    const target = (name: string) => `/events/${third?.id}?recurrenceTarget=${name}`;
    await write('PUT', target('SERIES'), { start: '2026-03-09T09:00:00-06:00' });
    expect(starts()).toEqual(['03-02T15', '03-06T15', '03-09T15', '03-13T15', '03-16T15', '03-20T15']);
    await write('DELETE', target('SERIES'));
    expect(starts()).toEqual(['03-02T15', '03-06T15']);
    const got = await ask(service, `/events/${first.id}`, undefined, { method: 'DELETE' });
    expect(got.status).toBe(400);
  });

  it('events: months count their weeks; a location on update is ignored with a warning', async () => {
    const monthly = {
      title: 'Inventory',
      start: '2026-01-30T08:00:00-07:00',
      location: { id: service.practice.locations[0]?.id },
      recurrenceType: 'MONTHLY',
      recurrenceStart: '2026-01-01',
      recurrenceEnd: '2026-03-31',
      recurrenceFrequency: 1,
      recurrenceWeek: 'LAST',
      recurrenceDay: 'FRIDAY',
    };
    const { id, groupId } = await write('POST', '/events', monthly, 201);
    const days = service.records('events').filter((event) => event.groupId === groupId);
    expect(days.map(({ start }) => String(start).slice(0, 10)).sort()).toEqual([
      '2026-01-30',
      '2026-02-27',
      '2026-03-27',
    ]);
    const path = `/events/${id}?recurrenceTarget=OCCURRENCE`;
    const got = await ask(service, path, undefined, { method: 'PUT', body: { location: { id: 1 }, title: 'Count' } });
    expect([got.status, got.body.warnings]).toEqual([200, [expect.objectContaining({ source: 'location' })]]);
    expect(got.body.data).toMatchObject({ title: 'Count', location: monthly.location });
  });

  it('appointments: a status makes a missed appointment, another one reschedules it', async () => {
    const kept = service.records('appointments').find(({ status }) => status !== 'BROKEN' && status !== 'NO_SHOW');
    const missed = () =>
      service.records('missedappointments').filter(({ appointment }) => linked(appointment) === kept?.id);
    const before = missed().length;
    await write('PUT', `/appointments/${kept?.id}`, { status: 'BROKEN' });
    expect(missed()).toHaveLength(before + 1);
    await write('PUT', `/appointments/${kept?.id}`, { start: '2026-05-04T09:00:00-06:00', duration: 45 });
    expect(missed().at(-1)?.rescheduledOn).toBeNull();
    await write('PUT', `/appointments/${kept?.id}`, { status: 'CONFIRMED' });
    expect(missed().every(({ rescheduledOn }) => rescheduledOn !== null)).toBe(true);
  });

  it('missed appointments: what is not applied changes nothing', async () => {
    const [missed] = service.records('missedappointments');
    const sent = { status: 'BROKEN', cancelledOn: '2026-01-01T10:00:00+01:00', note: 'x', rescheduledOn: 'x' };
    const changed = await write('PUT', `/missedappointments/${missed?.id}`, sent);
    expect(changed).toEqual({ ...missed, status: 'BROKEN', cancelledOn: '2026-01-01T09:00:00.000Z' });
  });

  it('tags: created and deleted, each answered with the tag', async () => {
    const tag = { tagText: 'Late', isPredefined: false, tagType: 'PAYMENT_TAG' };
    const { id, ...created } = await write('POST', '/transactiontags', tag, 201);
    expect(created).toEqual(tag);
    expect(await write('DELETE', `/transactiontags/${id}`)).toEqual({ id, ...tag });
    expect(rowsOf(await ask(service, '/transactiontags', `id->[${id}]`))).toEqual([]);
  });

  it('a hook sees each request before its answer', async () => {
    service.onRequest = ({ path }) => {
      if (path === '/api/v1/patients') service.addPatient({ chartNumber: 'ADDED' });
    };
    expect(rowsOf(await ask(service, '/patients', 'chartNumber==ADDED'))).toHaveLength(1);
  });
});

function linked(value: unknown): unknown {
  return (value as { id: unknown }).id;
}
