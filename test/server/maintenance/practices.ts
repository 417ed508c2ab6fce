import { cp, mkdtemp, open, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { backUp } from '../../../src/server/maintenance/backup/backup.ts';
import { type CheckReport, checkPlace } from '../../../src/server/maintenance/check/check.ts';
import type { DataLocation } from '../../../src/server/maintenance/datalocation.ts';
import type { Work } from '../../../src/server/maintenance/work.ts';
import { type Connection, openConnection } from '../../../src/sqlite/open.ts';
import { rowOf, rowsOf, type WireRecord } from '../../support/calls.ts';
import { leftOpenBelow } from '../../support/descriptors.ts';
import { PDF, PNG } from '../../support/files.ts';
import {
  LOCATIONS,
  OPERATORIES,
  ORGANIZATION,
  OTHER_ORGANIZATION,
  PATIENTS,
  PROVIDERS,
  TOKENS,
} from '../../support/ids.ts';
import type { TestDatabase } from '../../support/postgres.ts';
import { allRecords } from '../../support/practice.ts';
import { type TestService, testService } from '../../support/service.ts';

/** A work that nobody watches or ends. */
export const WORK: Work = { progress: () => {}, signal: new AbortController().signal, now: Date.now };

/** A work that ends when it has told so many times of something that begins so. */
export function stoppingAt(what: string, times = 1): Work {
  const stopping = new AbortController();
  let told = 0;
  const progress = (doing: string) => {
    if (doing.startsWith(what) && ++told === times) stopping.abort(new Error('Stopped here.'));
  };
  return { ...WORK, progress, signal: stopping.signal };
}

/** A folder of its own for a test file, and how to get rid of it: nothing in it may still be open then. */
export async function scratch(): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'molar-maintenance-'));
  return {
    path,
    async remove() {
      const open = leftOpenBelow(path);
      await rm(path, { recursive: true, force: true });
      // SQLite keeps a descriptor of a lock that a test has looked at in the process that holds it.
      expect(open.filter((name) => !name.endsWith('server.lock'))).toEqual([]);
    },
  };
}

/** A practice that the tests of a file copy, never change; and new names beside it. Both are gone after the tests. */
export function sharedPractice() {
  let place: Awaited<ReturnType<typeof scratch>>;
  let count = 0;
  const practice = { base: '', fresh: () => join(place.path, `new-${++count}`) };
  beforeAll(async () => {
    place = await scratch();
    practice.base = join(place.path, 'base');
    await makePractice(practice.base);
  });
  afterAll(() => place.remove());
  return practice;
}

export async function made(service: TestService, path: string, body: WireRecord): Promise<WireRecord> {
  const called = await service.call('POST', path, { body });
  if (called.status >= 300) throw new Error(called.text);
  return rowOf(called);
}

const WEEKLY = {
  recurrenceType: 'WEEKLY',
  recurrenceDays: ['MONDAY'],
  recurrenceFrequency: 1,
  recurrenceEnd: '2026-03-30',
};

/** The folder that `makePractice` copies, made once in a process. */
let practiceFolder: Promise<string> | undefined;

/** Makes a data folder with records of every kind: imported ones, and some made by requests. All have the same keys. */
export async function makePractice(data: string): Promise<void> {
  practiceFolder ??= newPractice().catch((cause: unknown) => {
    // Another file of this process tries again.
    practiceFolder = undefined;
    throw cause;
  });
  await copied(await practiceFolder, data);
}

async function newPractice(): Promise<string> {
  const data = await mkdtemp(join(tmpdir(), 'molar-maintenance-'));
  const service = await testService(allRecords(), { data });
  await made(service, '/documents', {
    name: 'paper',
    mimeType: 'PDF',
    tags: ['Plan', 'Only here'],
    file: { content: PDF },
  });
  const crop = { content: PNG, fromX: 0, fromY: 0, width: 1, height: 1, ratio: 1 };
  const ownerPatient = { id: PATIENTS.ann };
  await made(service, '/documents', { name: 'picture', mimeType: 'PNG', ownerPatient, file: crop });
  const event = await made(service, '/events', {
    title: 'Meeting',
    start: '2026-03-02T18:00:00Z',
    location: { id: LOCATIONS.east },
    ...WEEKLY,
  });
  const appointment = await made(service, '/appointments', {
    start: '2026-03-03T18:00:00Z',
    status: 'BROKEN',
    patient: { id: PATIENTS.bob },
    provider: { id: PROVIDERS.ann },
    operatory: { id: OPERATORIES.one },
  });
  await changeThings(service, Number(event.id), Number(appointment.id));
  await service.close();
  return data;
}

/** Changes that have consequences beside the record: whatever they leave must pass every check. */
async function changeThings({ call }: TestService, event: number, appointment: number): Promise<void> {
  const series = { recurrenceTarget: 'SERIES' };
  const single = { recurrenceTarget: 'OCCURRENCE' };
  const changes: readonly Parameters<TestService['call']>[] = [
    ['PUT', `/events/${event + 1}`, { query: single, body: { title: 'Moved', start: '2026-03-10T18:00:00Z' } }],
    ['PUT', `/events/${event + 2}`, { query: series, body: { title: 'Other' } }],
    ['PUT', `/events/${event + 3}`, { query: series, body: { ...WEEKLY, recurrenceFrequency: 2 } }],
    ['DELETE', `/events/${event + 1}`, { query: single }],
    ['PUT', `/appointments/${appointment}`, { body: { status: 'CONFIRMED', operatory: { id: OPERATORIES.three } } }],
    ['PUT', `/appointments/${appointment}`, { body: { status: 'NO_SHOW' } }],
    ['PUT', `/patients/${PATIENTS.ann}`, { body: { primaryGuarantor: { id: PATIENTS.bob }, lastName: 'Ångström' } }],
    ['PUT', `/patients/${PATIENTS.cleo}`, { body: { referredByPatient: { id: PATIENTS.ann } } }],
  ];
  for (const change of changes) {
    const called = await call(...change);
    if (called.status >= 300) throw new Error(called.text);
  }
}

/** The same folder once more, to be damaged. */
export async function copied(from: string, to: string): Promise<string> {
  await cp(from, to, { recursive: true });
  return to;
}

/** The address of a test's database, with connections of a name of their own: other tests have servers, too. */
export function own({ url, schema }: TestDatabase): string {
  const address = new URL(url);
  address.searchParams.set('application_name', schema);
  return address.href.replaceAll('+', '%20');
}

const PATHS = [
  '/patients?lastId=0',
  '/documents?lastId=0',
  '/transactions?filter=transactionDate>=2000-01-01',
  '/transactiontags?lastId=0',
  '/appointments?lastId=0',
  '/appointmenthistories?filter=lastModified>=2000-01-01T00:00:00Z',
  '/missedappointments?lastId=0',
  '/patientinsuranceplans?lastId=0',
  '/events?lastId=0',
  '/agingbalances?filter=location.id==ALL',
];

const SIGNED = /\?expires=\d+&key=[^"]+/g;

/**
 * What a server answers to whoever reads everything, to the byte, and the contents of the documents' files. Links are told
 * without what signs them: each place has a key of its own (D57).
 */
export async function answers(options: { data?: string; database?: string }): Promise<Record<string, string>> {
  const service = await testService([], options);
  const told: Record<string, string> = {};
  for (const path of PATHS) {
    for (const organization of [ORGANIZATION, OTHER_ORGANIZATION]) {
      const called = await service.call('GET', path, { organization, token: TOKENS.both });
      told[`${organization} ${path}`] = called.text.replaceAll(SIGNED, '');
    }
  }
  for (const { storage } of rowsOf(await service.call('GET', '/documents'))) {
    for (const link of Object.values(storage as Record<string, string>)) {
      told[link.replace(SIGNED, '')] = (
        await service.call('GET', link, { token: null, organization: null })
      ).bytes.toString('base64');
    }
  }
  await service.close();
  return told;
}

/** Runs statements on the database of a folder, past everything that guards it. */
export function inDatabase<T>(data: string, work: (connection: Connection) => T): T {
  const connection = openConnection(join(data, 'molar.sqlite'));
  try {
    return work(connection);
  } finally {
    connection.close();
  }
}

/** Overwrites the first page of a table, as a disk may do. */
export async function spoil(data: string, table: string): Promise<void> {
  const page = inDatabase(data, (connection) => {
    connection.pragma('wal_checkpoint(TRUNCATE)');
    return connection.prepare('SELECT rootpage FROM sqlite_master WHERE name = ?').pluck().get(table) as number;
  });
  const file = await open(join(data, 'molar.sqlite'), 'r+');
  await file.write(Buffer.alloc(4096, 0xff), 0, 4096, (page - 1) * 4096);
  await file.close();
}

export function check(place: DataLocation, options: { deep?: boolean; repair?: boolean } = {}): Promise<CheckReport> {
  return checkPlace(place, { ...WORK, deep: options.deep ?? false, repair: options.repair ?? false });
}

/** What a check found, a line a problem: `links patients 5: …`. */
export function linesOf({ problems }: CheckReport): string[] {
  return problems.map(({ check, table, id, message }) =>
    [check, table, id]
      .filter((part) => part !== null)
      .join(' ')
      .concat(`: ${message}`),
  );
}

/** Names of the files of a folder, those on the way apart. */
export async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !entry.parentPath.endsWith('incoming'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** The same, with a backup of it. */
export function sharedBackup() {
  const practice = Object.assign(sharedPractice(), { backup: '' });
  beforeAll(async () => {
    practice.backup = practice.fresh();
    await backUp({ data: practice.base }, practice.backup, { ...WORK, version: '1.2.3' });
  });
  return practice;
}
