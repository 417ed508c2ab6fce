import { join } from 'node:path';
import MirrorVerify from '../../../src/commands/mirror/verify.ts';
import type { World } from '../../cli/runcommand.ts';
import { LOCATIONS } from '../../support/ids.ts';
import { line } from '../../support/practice.ts';
import { clock, mirrorFolder, openServer, runOnline, syncTo } from './mirroring.ts';
import { queried } from './oracle.ts';

/** Every field of it is one of a kind. */
export const WANDA = line('PatientV1', {
  id: 70_000_000_000_177,
  firstName: 'Wandalina',
  lastName: 'Quetzalworth',
  preferredName: 'Wandy-Q',
  middleInitial: 'Xq.',
  title: 'Countess',
  nameSuffix: 'XIVth',
  gender: 'F',
  dateOfBirth: '1931-07-19',
  patientStatus: 'ACTIVE',
  contactMethod: 'Text me',
  languageType: 'English',
  chartNumber: 'CHART-99217',
  emailAddress: 'wanda.q@example.org',
  phones: [{ id: 70_000_000_009_177, phoneType: 'MOBILE', number: '(719) 555-0177', extension: 'x8841', sequence: 1 }],
  preferredLocation: { id: LOCATIONS.east },
  address1: '17 Ptarmigan Crescent',
  address2: 'Apt. Zebra',
  city: 'Leadvillington',
  state: 'CO',
  postalCode: '82190-1234',
  firstVisitDate: '2019-08-07T16:05:04.000Z',
});

/** A service, with Wanda unless records are given, and a folder for de-identified mirrors, until the test ends. */
export async function openPlace(records?: Parameters<typeof openServer>[0]) {
  const { folder, file } = await mirrorFolder();
  const key = join(folder, 'the.key');
  const { service, env } = await openServer(records);
  if (records === undefined) await service.import([WANDA]);
  // The clock of the service stands: a year that ends meanwhile changes nothing.
  const own = { env, clock: { ...clock, now: service.clock.now } };
  const run = (id: string, command: unknown, words: readonly string[], world: World = {}) =>
    runOnline(id, command, words, { ...own, ...world });
  return {
    ...{ service, folder, file, key, run },
    sync: (words: readonly string[] = ['--deidentify', key], world: World = {}, to = file) =>
      syncTo(to, words, { ...own, ...world }),
    verify: (words: readonly string[] = [], world: World = {}) =>
      run('mirror:verify', MirrorVerify, ['--to', file, '--json', ...words], world),
  };
}

/** All rows of all tables of the service, in one order, without when they were written. */
export function contentOf(of: string): Record<string, unknown> {
  const tables = queried(of, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\'")
    .map(({ name }) => String(name))
    .filter((name) => !/_(deleted|history)$/.test(name));
  const rowsOf = (table: string) =>
    queried(of, `SELECT * FROM ${table}`)
      .map(({ _synced_at, ...row }) => JSON.stringify(row))
      .sort();
  return Object.fromEntries(tables.map((table) => [table, rowsOf(table)]));
}
