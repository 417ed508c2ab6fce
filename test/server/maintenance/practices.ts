import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CheckReport, checkPlace } from '../../../src/server/maintenance/check/check.ts';
import type { Place } from '../../../src/server/maintenance/place.ts';
import type { Work } from '../../../src/server/maintenance/work.ts';
import { type Connection, openConnection } from '../../../src/server/store/sqlite/open.ts';
import { rowOf, type WireRecord } from '../../support/calls.ts';
import { PDF, PNG } from '../../support/files.ts';
import { LOCATIONS, OPERATORIES, PATIENTS, PROVIDERS } from '../../support/ids.ts';
import { allRecords } from '../../support/practice.ts';
import { type TestService, testService } from '../../support/service.ts';

/** A work that nobody watches or ends. */
export const WORK: Work = { progress: () => {}, signal: new AbortController().signal, now: Date.now };

/** A folder of its own for a test file, and how to get rid of it. */
export async function scratch(): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'molar-maintenance-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

export async function made(service: TestService, path: string, body: WireRecord): Promise<WireRecord> {
  const called = await service.call('POST', path, { body });
  if (called.status >= 300) throw new Error(called.text);
  return rowOf(called);
}

/** Makes a data folder with records of every kind: imported ones, and some made by requests. */
export async function makePractice(data: string): Promise<void> {
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
  await made(service, '/events', {
    title: 'Meeting',
    start: '2026-03-02T18:00:00Z',
    location: { id: LOCATIONS.east },
    recurrenceType: 'WEEKLY',
    recurrenceDays: ['MONDAY'],
    recurrenceFrequency: 1,
    recurrenceEnd: '2026-03-30',
  });
  await made(service, '/appointments', {
    start: '2026-03-03T18:00:00Z',
    status: 'BROKEN',
    patient: { id: PATIENTS.bob },
    provider: { id: PROVIDERS.ann },
    operatory: { id: OPERATORIES.one },
  });
  await service.close();
}

/** The same folder once more, to be damaged. */
export async function copied(from: string, to: string): Promise<string> {
  await cp(from, to, { recursive: true });
  return to;
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

export function check(place: Place, options: { deep?: boolean; repair?: boolean } = {}): Promise<CheckReport> {
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
