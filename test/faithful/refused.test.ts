import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Asked, ask } from './asking.ts';
import { type Faithful, startFaithful } from './service.ts';

const EVENT = { title: 'Meeting', start: '2026-03-02T10:00:00-07:00' };
const WEEKLY = {
  recurrenceType: 'WEEKLY',
  recurrenceStart: '2026-03-02',
  recurrenceEnd: '2026-03-30',
  recurrenceFrequency: 1,
};
const PATIENT = {
  firstName: 'Ada',
  lastName: 'Ashdown',
  contactMethod: 'Call me',
  languageType: 'English',
  patientStatus: 'NEW',
  gender: 'F',
  dateOfBirth: '1990-01-01',
  address1: '1 Example Street',
  city: 'Exampleton',
  state: 'UT',
  postalCode: '84101',
};
const TAG = { tagText: 'Late', isPredefined: false, tagType: 'PAYMENT_TAG' };
const FILE = { name: 'report', mimeType: 'PDF', file: { content: 'YWJj' } };

describe('what the specification does not list is refused by its name', () => {
  let service: Faithful;
  let location: { readonly id: number };

  beforeAll(async () => {
    service = await startFaithful({ seed: 'refused', moods: {} });
    location = { id: service.practice.locations[0]?.id ?? 0 };
  });
  afterAll(() => service.close());
  beforeEach(() => {
    (service.violations as unknown[]).length = 0;
  });

  async function refused(path: string, filter: string | undefined, asked: Asked, status: number, named: string) {
    const got = await ask(service, path, filter, asked);
    expect(got.status).toBe(status);
    expect(got.body.errors).toEqual([{ description: expect.stringContaining(named) }]);
    const { method = 'GET' } = asked;
    const [violation, ...more] = service.violations;
    expect(violation).toEqual({ method, path: `/api/v1${path.split('?')[0]}`, what: expect.stringContaining(named) });
    expect(more).toEqual([]);
  }

  it.each([
    ['GET', '/appointments', 404],
    ['GET', '/appointments/1', 405],
    ['POST', '/appointments', 404],
    ['DELETE', '/appointments/1', 405],
    ['GET', '/stream', 404],
    ['GET', '/missedappointments/totalcount', 404],
    ['GET', '/transactiontags/totalcount', 404],
    ['GET', '/imageattachments', 404],
    ['GET', '/transactions/async', 404],
    ['GET', '/patients/', 404],
    ['PUT', '/transactiontags/1', 405],
    ['PATCH', '/patients/1', 405],
    ['HEAD', '/patients', 405],
    ['POST', '/transactions', 405],
    ['DELETE', '/patients/1', 405],
    ['GET', '/patients/abc', 404],
    ['GET', '/appointmenthistories/0', 404],
  ])('route %s %s', async (method, path, status) => {
    if (method === 'HEAD') {
      await ask(service, path, undefined, { method }).catch(() => undefined);
      expect(service.violations).toHaveLength(1);
    } else await refused(path, undefined, { method }, status, path.split('/').at(-1) ?? '');
  });

  it.each([
    ['/patients?sort=id', 'sort'],
    ['/patients?pageSize=501', 'pageSize'],
    ['/patients?pageSize=0', 'pageSize'],
    ['/patients?page=0', 'page'],
    ['/patients?lastId=abc', 'lastId'],
    ['/patients?lastId=1&lastId=2', 'lastId'],
    ['/documents?page=1', 'page'],
    ['/documents?pageSize=501', 'pageSize'],
    ['/documents?responseFields=id,size', 'size'],
    ['/events?responseFields=id,createdDate', 'createdDate'],
    ['/events/async?pageSize=11', 'pageSize'],
    ['/appointmenthistories?lastId=1', 'lastId'],
    ['/missedappointments?page=1', 'page'],
    ['/scheduleopenings?pageSize=5', 'pageSize'],
    ['/locationproductionnetschedule?lastId=5', 'lastId'],
    ['/patients/totalcount?pageSize=5', 'pageSize'],
    ['/patients/calculated?responseFields=lastVisitDate', 'filter'],
    ['/transactions', 'filter'],
    ['/agingbalances/report', 'filter'],
  ])('parameters %s', async (path, named) => {
    await refused(path, undefined, {}, 400, named);
  });

  it.each([
    ['/patients', 'createdDate>=2020-01-01', 'createdDate'],
    ['/patients', 'lastName->[a]', 'lastName'],
    ['/patients', 'lastName', 'lastName'],
    ['/patients', '', 'no key'],
    ['/patients', 'gender==f', 'gender'],
    ['/patients', 'patientStatus==Active', 'patientStatus'],
    ['/patients', 'lastModified>2020-01-01', 'lastModified'],
    ['/patients', 'lastModified>2020-01-01T00:00:00', 'lastModified'],
    ['/patients', 'lastModified==2020-01-01T00:00:00Z', 'lastModified'],
    ['/patients', 'dateOfBirth==2020-02-30', 'dateOfBirth'],
    ['/patients', 'id->[1,x]', 'id'],
    ['/patients', 'id->1', 'id'],
    ['/patients', 'id->[]', 'id'],
    ['/patients', 'preferredLocation.id==MAIN', 'preferredLocation.id'],
    ['/patients', 'chartNumber.absent1', 'chartNumber'],
    ['/patients/async', 'id->[1]', 'id'],
    ['/events', 'id==1', 'id'],
    ['/events', 'start>=2020-01-01', 'start'],
    ['/events', 'type==EventV1', 'type'],
    ['/missedappointments', 'lastModified>2020-01-01T00:00:00Z', 'lastModified'],
    ['/missedappointments', 'status==BROKEN', 'status'],
    ['/documents', 'ownerPatient.id==x', 'ownerPatient.id'],
    ['/documents', 'tags==a', 'tags'],
    ['/transactions', 'transactionDate>=2020-01-01T00:00:00Z', 'transactionDate'],
    ['/transactions', 'ledgerType==insurancepayment', 'ledgerType'],
    ['/transactions', 'amount>1', 'amount'],
    ['/transactiontags', 'tagType==payment_tag', 'tagType'],
    ['/transactiontags', 'id==1', 'id'],
    ['/appointmenthistories', 'id->[1]', 'id'],
    ['/patientinsuranceplans', 'patient.id!=1', 'patient.id'],
    ['/appointments/async', 'status==here', 'status'],
    ['/agingbalances/report', 'location.id==1', 'patient.id or page'],
    ['/agingbalances/report', 'page==1', 'location.id'],
    ['/agingbalances/report', 'location.id==1,page==1,balance->[1]', 'balance'],
    ['/locationproductionnetschedule', 'location.id==ALL', 'fromDate'],
    ['/locationproductionnetschedule', 'fromDate==2026-03-02,range==32', 'range'],
    ['/locationproductionnetschedule', 'fromDate==2026-03-02,timezone==Mars', 'timezone'],
    ['/locationproductionnetschedule', 'fromDate==2026-03-02,patient.id==1,provider.id==1', 'exclude'],
    ['/scheduleopenings', 'location.id==1,startDate==2026-03-02', 'endDate'],
    ['/scheduleopenings', 'location.id==1,startDate==2026-03-02,endDate==2026-03-01', 'endDate'],
    [
      '/scheduleopenings',
      'location.id==1,startDate==2026-03-02,endDate==2026-03-02,booking.type==recare',
      'booking.type',
    ],
    ['/scheduletemplatereasons', 'id==1', 'id'],
  ])('filters of %s: %s', async (path, filter, named) => {
    await refused(path, filter, {}, 400, named);
  });

  it.each<[string, string, Record<string, unknown>, string]>([
    ['POST', '/events', { ...EVENT, id: 1 }, 'id'],
    ['POST', '/events', { ...EVENT, start: '2026-03-02T10:00:00' }, 'start'],
    ['POST', '/events', { ...EVENT, duration: 4 }, 'duration'],
    ['POST', '/events', { ...EVENT, color: '#bbbbbb' }, 'color'],
    ['POST', '/events', { title: 'x', location: {} }, 'start'],
    ['POST', '/events', { ...EVENT, ...WEEKLY }, 'recurrenceDays'],
    [
      'POST',
      '/events',
      { ...EVENT, ...WEEKLY, recurrenceDays: ['MONDAY'], recurrenceEnd: '2028-04-30' },
      'recurrenceEnd',
    ],
    ['POST', '/events', { ...EVENT, recurrenceType: 'MONTHLY', recurrenceWeek: 'LAST' }, 'recurrenceStart'],
    ['POST', '/patients', { ...PATIENT, lastModified: '2026-01-01T00:00:00Z' }, 'lastModified'],
    ['POST', '/patients', { ...PATIENT, gender: 'f' }, 'gender'],
    ['POST', '/patients', { ...PATIENT, state: 'ut' }, 'state'],
    ['POST', '/patients', { ...PATIENT, firstName: 'x'.repeat(26) }, 'firstName'],
    ['POST', '/patients', { ...PATIENT, city: null }, 'city'],
    ['POST', '/patients', { ...PATIENT, nickname: 'x' }, 'nickname'],
    ['POST', '/transactiontags', { ...TAG, tagType: 'payment_tag' }, 'tagType'],
    ['POST', '/transactiontags', { tagText: 'x', tagType: 'PAYMENT_TAG' }, 'isPredefined'],
    ['POST', '/documents', { ...FILE, name: 'report.pdf' }, 'name'],
    ['POST', '/documents', { ...FILE, name: 'photo.JPG', mimeType: 'JPEG' }, 'name'],
    ['POST', '/documents', { ...FILE, mimeType: 'pdf' }, 'mimeType'],
    ['POST', '/documents', { ...FILE, userDefinedDate: '2026-01-01' }, 'userDefinedDate'],
    ['POST', '/documents', { ...FILE, file: { content: 'YWJ' } }, 'file.content'],
    ['POST', '/documents', { ...FILE, ownerPatient: { id: 1 }, ownerPerioExam: { id: 1 } }, 'ownerPatient'],
    ['PUT', '/documents/{documents}', { mimeType: 'PDF' }, 'mimeType'],
    ['PUT', '/events/{events}?recurrenceTarget=OCCURRENCE', { end: '2026-03-02T10:00:00Z' }, 'end'],
    ['PUT', '/events/{events}?recurrenceTarget=occurrence', { title: 'x' }, 'recurrenceTarget'],
    ['PUT', '/events/{events}', { title: 'x' }, 'recurrenceTarget'],
    ['PUT', '/patients/{patients}', { id: 1 }, 'id'],
    ['PUT', '/appointments/{appointments}', { note: 'x' }, 'note'],
    ['PUT', '/appointments/{appointments}', { status: 'here' }, 'status'],
    ['PUT', '/appointments/{appointments}', { start: '2026-03-02T10:00:00' }, 'start'],
    ['PUT', '/missedappointments/{missedappointments}', { reasonCancelled: 'x'.repeat(201) }, 'reasonCancelled'],
    ['PUT', '/missedappointments/{missedappointments}', { start: '2026-03-02T10:00:00Z' }, 'start'],
  ])('bodies of %s %s: %j', async (method, path, body, named) => {
    const there = path.replace(/\{(\w+)\}/, (_, resource) => String(service.records(resource)[0]?.id));
    const whole = method === 'POST' && path === '/events' && 'title' in EVENT ? { location, ...body } : body;
    const sent = path === '/patients' ? { preferredLocation: location, ...body } : whole;
    await refused(there, undefined, { method, body: sent }, 400, named);
  });

  it.each([
    ['Organization-ID', { 'organization-id': '' }, 403],
    ['a token', { authorization: 'Bearer wrong' }, 401],
    ['a scheme', { authorization: 'Basic x' }, 401],
  ])('headers: %s', async (_what, headers, status) => {
    expect((await ask(service, '/patients', undefined, { headers })).status).toBe(status);
  });

  it('keeps the store as it was', async () => {
    const before = service.records('events').length;
    await ask(service, '/events', undefined, { method: 'POST', body: { ...EVENT, location, end: 'x' } });
    expect(service.records('events')).toHaveLength(before);
  });
});
