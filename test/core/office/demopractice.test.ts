import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { OfficeReport, Question } from '../../../src/core/office/report.ts';
import { LocalClock } from '../../../src/core/output/localclock.ts';
import { openReadOnly } from '../../../src/core/query/sqliteopen.ts';
import type { DemoRecord } from '../../../src/demo/practice.ts';
import type { Connection } from '../../../src/sqlite/open.ts';
import { linksOf, NOW, smallPractice, TODAY } from '../../demo/smallpractice.ts';
import { Draws } from '../../faithful/random.ts';
import { ORGANIZATION, organizationRecords, tokenRecords } from '../../support/practice.ts';
import { type TestService, testService } from '../../support/service.ts';
import { Mirrored, queried, RESOURCES } from './mirrored.ts';
import { OFFICE_REPORTS } from './officereports.ts';
import { Oracle } from './oracle.ts';
import { type Drawn, questionsOf } from './questions.ts';
import type { Fields, Records, Row } from './records.ts';

const QUESTIONS = 5;

/** Kinds of the demo practice that no report needs, whose records are many. */
const LEFT_OUT =
  /^(Organization|EventV1|ScheduleTemplateV1|AppointmentHistoryV1|ImageAttachmentV1|PatientInsurancePlanV1|PerioExam)$/;

/** The first patients of the demo practice with all that is linked to nobody else. */
function firstPatients(): DemoRecord[] {
  const practice = smallPractice();
  const first = new Set(practice.of('PatientV1').slice(0, 120));
  const kinds = new Set(practice.all.map(({ type }) => type));
  let kept = practice.all.filter((record) => !LEFT_OUT.test(record.type) && !record.ownerOrganization);
  kept = kept.filter((record) => record.type !== 'PatientV1' || first.has(record));
  const links = new Map(kept.map((record) => [record, linksOf(record)] as const));
  for (let before = 0; before !== kept.length; ) {
    before = kept.length;
    const there = new Set(kept.map(({ type, id }) => `${type} ${id}`));
    kept = kept.filter((record) =>
      links.get(record)?.every((link) => there.has(link) || !kinds.has(link.split(' ')[0] ?? '')),
    );
  }
  return kept.map((record) => ({ ...record, organizationId: ORGANIZATION }));
}

let folder: string;
let connection: Connection;
let service: TestService;
let records: Records;
let zones: ReadonlyMap<string, string>;

async function recordsOf(resource: string): Promise<Fields[]> {
  const filter = resource === 'transactions' ? { filter: 'transactionDate>=0001-01-01' } : {};
  const all: Fields[] = [];
  for (let page: Fields[] | undefined; page?.length !== 0; all.push(...page)) {
    const query = { ...filter, pageSize: 500, lastId: String(all.at(-1)?.id ?? 0) };
    page = (await service.call('GET', `/${resource}`, { query })).body.data as Fields[];
  }
  return all;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-office-'));
  const file = join(folder, 'demo.db');
  const lines = firstPatients();
  zones = new Map(
    lines.filter(({ type }) => type === 'Location').map(({ id, timezone }) => [String(id), String(timezone)]),
  );
  service = await testService([...organizationRecords(), ...tokenRecords(), ...lines]);
  const read: Record<string, Fields[]> = {};
  for (const resource of RESOURCES) read[resource] = await recordsOf(resource);
  records = { ...(read as unknown as Records), vanished: [], first: new Map() };
  const mirrored = new Mirrored(file, false);
  await mirrored.load(read);
  await mirrored.close();
  connection = openReadOnly(file);
});

afterAll(async () => {
  connection?.close();
  await service?.close();
  await rm(folder, { recursive: true, force: true });
});

const reportOf = (name: string) => OFFICE_REPORTS.find((one) => one.name === name) as OfficeReport<object>;

function question(): Question {
  const clocks = [...zones].map(([id, zone]) => ({ clock: new LocalClock(zone), locations: [id] }));
  return {
    today: TODAY,
    now: NOW,
    locations: null,
    zones: clocks,
    otherwise: new LocalClock('UTC'),
    hasHistory: false,
  };
}

it.each(OFFICE_REPORTS.map(({ name }) => name))('%s lists what the API answers', (name) => {
  const draws = new Draws(`demo ${name}`);
  const oracle = new Oracle(records, {
    today: TODAY,
    now: NOW,
    locations: null,
    zoneOf: (location) => zones.get(location ?? '') ?? 'UTC',
  });
  const report = reportOf(name);
  const tags = [...new Set(records.documents.flatMap((one) => one.tags as string[]))];
  const draw = questionsOf(draws, { today: TODAY, reach: 300, tags })[name] as () => Drawn;
  let rows = 0;
  for (let number = 0; number < QUESTIONS; number++) {
    const [options, answer] = draw();
    const wanted = answer(oracle);
    const got = queried(connection, report.sql(question(), options), report.columns(options));
    expect(got, JSON.stringify(options)).toStrictEqual(wanted);
    rows += wanted.length;
  }
  expect(rows).toBeGreaterThan(0);
});

it('recall knows the last visits that the service calculates', async () => {
  const statuses = [...new Set(records.patients.map(({ patientStatus }) => String(patientStatus)))];
  const options = { months: 0, includeNeverSeen: true, patientStatuses: statuses };
  const rows: Row[] = queried(
    connection,
    reportOf('recall').sql(question(), options),
    reportOf('recall').columns(options),
  );
  const filter = `patient.id->[${rows.map((row) => row['patient.id']).join()}]`;
  const query = { filter, responseFields: 'ALL' };
  const calculated = (await service.call('GET', '/patients/calculated', { query })).body.data as Fields[];
  const wanted = new Map(calculated.map(({ id, lastVisitDate }) => [String(id), lastVisitDate]));
  expect(new Map(rows.map((row) => [row['patient.id'], row.lastVisitDate]))).toEqual(wanted);
  expect(rows.filter(({ lastVisitDate }) => lastVisitDate !== null).length).toBeGreaterThan(10);
});
