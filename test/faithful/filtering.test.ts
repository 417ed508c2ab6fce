import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, idsOf, rowsOf } from './asking.ts';
import { type Faithful, startFaithful } from './service.ts';
import type { Fields, Resource } from './store.ts';

type Keep = (row: Fields) => boolean;

const ofLink = (value: unknown): unknown => (value as { id: unknown } | null)?.id;

describe('filters', () => {
  let service: Faithful;
  beforeAll(async () => {
    service = await startFaithful({ seed: 'filtering', moods: { pageCap: 500 }, practice: { patients: 80 } });
  });
  afterAll(() => service.close());

  const MIDDLE = '2021-06-01T00:00:00Z';
  const isOld = (value: unknown) => String(value) < new Date(MIDDLE).toISOString();

  it.each<[Resource, string, Keep]>([
    ['patients', 'lastName==Vega; Jr', () => false],
    ['patients', "lastName==O'Field", ({ lastName }) => lastName === "O'Field"],
    ['patients', 'lastName!=Smithson', ({ lastName }) => lastName !== 'Smithson'],
    ['patients', 'firstName~=A', ({ firstName }) => String(firstName).startsWith('A')],
    ['patients', 'firstName<>=é', ({ firstName }) => String(firstName).includes('é')],
    ['patients', 'chartNumber.absent', ({ chartNumber }) => chartNumber === null],
    ['patients', 'chartNumber.present,gender==F', (row) => row.chartNumber !== null && row.gender === 'F'],
    ['patients', `lastModified<${MIDDLE}`, ({ lastModified }) => isOld(lastModified)],
    ['patients', `lastModified>=${MIDDLE.replace('00:00Z', '00:00+00:00')}`, (row) => !isOld(row.lastModified)],
    ['patients', 'firstVisitDate<2021-06-01', (row) => row.firstVisitDate !== null && isOld(row.firstVisitDate)],
    ['patients', 'phones.number->[(801) 555-0000,"(801) 555-0001"]', () => false],
    ['events', `start<${MIDDLE}`, ({ start }) => isOld(start)],
    ['events', 'title~=Training', ({ title }) => String(title).startsWith('Training')],
    ['transactions', 'transactionDate<2021-06-01', ({ transactionDate }) => String(transactionDate) < '2021-06-01'],
    ['patientinsuranceplans', `lastModified<${MIDDLE}`, ({ lastModified }) => isOld(lastModified)],
    ['documents', 'tags->[CONSENT,"other, tag"]', ({ tags }) => (tags as string[]).includes('Consent')],
    ['missedappointments', `start<${MIDDLE}`, ({ start }) => isOld(start)],
  ])('%s %s', async (resource, filter, keep) => {
    const expected = service.records(resource).filter(keep);
    const ids = idsOf(await ask(service, `/${resource}`, filter));
    expect(ids.sort()).toEqual(expected.map(({ id }) => String(id)).sort());
  });

  it.each<[Resource, string, string]>([
    ['patients', 'primaryGuarantor.id', 'primaryGuarantor'],
    ['patientinsuranceplans', 'patient.id', 'patient'],
    ['transactions', 'patient.id', 'patient'],
    ['missedappointments', 'appointment.id', 'appointment'],
    ['documents', 'ownerPatient.id', 'ownerPatient'],
  ])('%s by %s', async (resource, key, field) => {
    const records = service.records(resource);
    const wanted = ofLink(records.map((row) => row[field]).find(Boolean));
    const early = resource === 'transactions' ? ',transactionDate>=2000-01-01' : '';
    const ids = idsOf(await ask(service, `/${resource}`, `${key}==${wanted}${early}`));
    expect(ids).toEqual(records.filter((row) => ofLink(row[field]) === wanted).map(({ id }) => String(id)));
    expect(ids.length).toBeGreaterThan(0);
  });

  it('aging pages hold each guarantor of a location once, and sum to the whole', async () => {
    const first = await ask(service, '/agingbalances/report', 'location.id==ALL,page==1');
    const { limit, total } = first.body.meta?.pagination ?? {};
    const pages = Math.ceil(Number(total) / Number(limit));
    const reports = [];
    for (let page = 1; page <= pages; page++) {
      reports.push((await ask(service, '/agingbalances/report', `location.id==ALL,page==${page}`)).body.data as Fields);
    }
    const rows = reports.flatMap(({ patientReports }) => patientReports as Fields[]);
    expect(pages).toBeGreaterThan(1);
    expect(rows.map(({ id }) => id).sort()).toEqual(
      service.practice.owing.map(({ guarantor }) => `${guarantor}`).sort(),
    );
    const cents = (list: readonly Fields[]) =>
      list.reduce((sum, { balance }) => sum + Math.round(Number(balance) * 100), 0);
    expect(cents(reports)).toBe(cents(rows));
  });

  it('production holds the days of a window in the zone of each location', async () => {
    const rows = rowsOf(
      await ask(service, '/locationproductionnetschedule', `fromDate==${today()},range==31,isPrimaryWriteOff==true`),
    );
    const end = Date.now() + 31 * 86_400_000;
    expect(rows.length).toBeGreaterThan(3);
    expect(rows.every(({ date }) => Date.parse(String(date)) < end)).toBe(true);
    const got = await ask(service, '/locationproductionnetschedule', `fromDate==${today()},isPrimaryWriteOff==true`);
    expect(got.body.warnings).toEqual([expect.objectContaining({ title: 'Deprecated filter' })]);
  });

  it('async endpoints give ten records at once; patients in descending order', async () => {
    const ids = service.records('patients').map(({ id }) => String(id));
    expect(idsOf(await ask(service, '/patients/async?pageSize=10'))).toEqual(ids.toReversed().slice(0, 10));
    const images = service.records('imageattachments').map(({ id }) => String(id));
    expect(idsOf(await ask(service, `/imageattachments/async?lastId=${images[9]}`))).toEqual(images.slice(10, 20));
    expect(rowsOf(await ask(service, '/appointments/async', 'asap==true')).length).toBeGreaterThan(0);
  });

  it('reasons of a location are given whole, whatever the paging', async () => {
    const [place] = service.practice.locations;
    const got = await ask(
      service,
      '/scheduletemplatereasons?lastId=99999999999999&pageSize=1',
      `location.id==${place?.id}`,
    );
    const expected = service
      .records('scheduletemplatereasons')
      .filter(({ location }) => ofLink(location) === place?.id);
    expect(rowsOf(got)).toEqual(expected);
  });

  it('openings are of the days and the location asked for', async () => {
    const [place] = service.practice.locations;
    const filter = `location.id==${place?.id},startDate==2026-03-07,endDate==2026-03-09`;
    const rows = rowsOf(await ask(service, '/scheduleopenings', filter));
    expect(new Set(rows.map(({ day }) => day))).toEqual(new Set(['2026-03-07', '2026-03-08', '2026-03-09']));
    const starts = rows.flatMap(({ slots }) => (slots as Fields[]).map(({ start }) => String(start).slice(8)));
    expect(new Set(starts)).toEqual(new Set(['07T16:00:00.000Z', '08T15:00:00.000Z', '09T15:00:00.000Z']));
  });
});

function today(): string {
  return new Date().toISOString().slice(0, 10);
}
