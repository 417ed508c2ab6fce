import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AuditEntry, auditRow } from '../../../src/server/audit/entries.ts';
import { problemsOf, rawEntries, rehash } from '../../support/evidence.ts';
import { PATIENTS } from '../../support/ids.ts';
import { bareRecords } from '../../support/practice.ts';
import { putBack, rawRows, setAside, tamper } from '../../support/rawsql.ts';
import { type TestService, testService } from '../../support/service.ts';
import { cases } from '../../support/store.ts';

/** Entries that tell of patients, by what they tell. */
interface Told {
  /** Of one patient. */
  one: number;
  /** Of so many that the index has their block. */
  many: number;
  all: number;
  nobody: number;
}

let service: TestService;
let told: Told;

/** Writes entries, and returns the number of the last one. */
async function write(...entries: readonly Pick<AuditEntry, 'operation' | 'ids' | 'patients' | 'all'>[]) {
  const actor = { who: 'token 0123456789ab', address: null, requestId: null };
  const at = service.clock.text();
  await service.service.store.appendLogs(entries.map((entry) => auditRow({ org: 1, at, actor, ...entry })));
  return (await rawEntries(service)).at(-1)?.id ?? 0;
}

const SEEN_OFTEN = 4242;
const many = Array.from({ length: 40 }, (_, n) => 5000 + n * 7);

beforeAll(async () => {
  service = await testService(bareRecords());
  told = {
    one: await write({ operation: 'patients.get', ids: [PATIENTS.ann], patients: [PATIENTS.ann] }),
    many: await write({ operation: 'transactions.list', ids: [1, 2], patients: many }),
    all: await write({ operation: 'server.backup', all: true }),
    nobody: await write({ operation: 'transactiontags.list', ids: [7, 8, 9] }),
  };
  // More than are looked at together, also of one patient.
  await write(
    ...Array.from({ length: 2100 }, (_, n) => ({
      ...{ operation: 'patients.get', ids: [n + 1], patients: [n + 1, n + 90, SEEN_OFTEN] },
    })),
  );
  await setAside(service);
});
beforeEach(() => putBack(service));
afterAll(() => service.close());

const row = (bucket: string | number, entry: number, org = 1) =>
  `INSERT INTO audit_patients (bucket, org, entry) VALUES (${bucket}, ${org}, ${entry})`;

/**
 * What somebody does to the index who hides what they have seen, or charges another with it; and what is found. The first
 * of them hang on the order in which the store gives the rows, and on its numbers; the others tell no store from another.
 */
const ATTACKS: readonly (readonly [name: string, attack: () => string[], found: () => string[]])[] = [
  [
    'every row of a patient deleted',
    () => ['DELETE FROM audit_patients WHERE bucket = 600'],
    () => [`entry ${told.nobody + 600 - 89}`, `entry ${told.nobody + 600}`],
  ],
  [
    'a row led to another organization',
    () => [`UPDATE audit_patients SET org = 2 WHERE entry = ${told.one}`],
    () => [`entry ${told.one}`],
  ],
  [
    'a row of another organization, behind more of the first one than are looked at together',
    () => [row(SEEN_OFTEN, told.nobody, 2)],
    () => [`entry ${told.nobody}`],
  ],
  [
    'a row of another organization beside the right one',
    () => [row(PATIENTS.ann, told.one, 2)],
    () => [`entry ${told.one}`],
  ],
  ['a row whose patient is no number that anybody has', () => [row('9223372036854775807', told.one)], () => ['head']],
  [
    'a row deleted, and another one put in',
    () => [`DELETE FROM audit_patients WHERE entry = ${told.one}`, row(3, told.nobody)],
    () => [`entry ${told.one}`, `entry ${told.nobody}`],
  ],
  ['a row deleted', () => [`DELETE FROM audit_patients WHERE entry = ${told.one}`], () => [`entry ${told.one}`]],
  [
    'one row of many deleted',
    () => [`DELETE FROM audit_patients WHERE entry = ${told.many} AND bucket = ${-1 - Math.floor(5000 / 64)}`],
    () => [`entry ${told.many}`],
  ],
  [
    'the row of what held everything deleted',
    () => [`DELETE FROM audit_patients WHERE entry = ${told.all}`],
    () => [`entry ${told.all}`],
  ],
  [
    'a row led to another patient',
    () => [`UPDATE audit_patients SET bucket = ${PATIENTS.bob} WHERE entry = ${told.one}`],
    () => [`entry ${told.one}`],
  ],
  ['a row of an entry of nobody', () => [row(PATIENTS.ann, told.nobody)], () => [`entry ${told.nobody}`]],
  [
    'a row of everything for an entry of one patient',
    () => [row(0, told.nobody + 300)],
    () => [`entry ${told.nobody + 300}`],
  ],
  ['a row of an entry that is still to come', () => [row(1, 99_999)], () => ['entry 99999']],
  ['a row of an entry before the first', () => [row(1, -3)], () => ['entry -3']],
];

it('an index that nobody has touched has no problems', async () => {
  expect(await problemsOf(service)).toEqual([]);
});

const LISTS = [
  ['that says it was somebody else', `[${PATIENTS.bob}]`],
  ['that cannot be read', '[1,'],
  ['that is no list', '[{"id":1}]'],
  ['of more patients than there are', '[[1,9000000000000000]]'],
  ['that goes backwards', '[[9,1]]'],
] as const;

describe('in the index of patients is found', () => {
  it.each(ATTACKS.slice(0, cases(ATTACKS.length, 6)))('%s', async (_name, attack, found) => {
    await tamper(service, ...attack());
    expect(await problemsOf(service)).toEqual(found().map((source) => `audit.altered ${source}`));
  });

  // The last minute is not signed yet: hashes that were made anew agree with each other.
  it.each(LISTS.slice(0, cases(LISTS.length, 1)))(
    'an entry that was not signed yet, with a list %s',
    async (_name, list) => {
      const last = await write({ operation: 'transactions.get', ids: [1], patients: [PATIENTS.ann] });
      await tamper(service, `UPDATE audit_entries SET patients = '${list}' WHERE id = ${last}`);
      await rehash(service, last);
      expect(await problemsOf(service)).toEqual([`audit.altered entry ${last}`]);
    },
  );

  it('every row deleted, of which a hundred entries are named', async () => {
    await tamper(service, 'DELETE FROM audit_patients');
    const found = await problemsOf(service);
    expect(found).toHaveLength(100);
    const [first] = await rawRows<{ id: number }>(
      service,
      'SELECT id FROM audit_entries WHERE patients IS NOT NULL OR covers_all = 1 ORDER BY id',
    );
    expect(found[0]).toBe(`audit.altered entry ${first?.id}`);
  });
});

it('an entry that stands behind the end of the log is none of its patient, and is named', async () => {
  const { patientPages } = await import('../../../src/server/audit/patienttrail.ts');
  const forged = (await rawEntries(service)).length + 1;
  const columns = 'id, org, at, who, operation, ids, patients, hash';
  await tamper(
    service,
    `INSERT INTO audit_entries (${columns}) VALUES (${forged}, 1, '2026-03-02T12:00:00.000Z', 'token nobody', 'patients.get', '[4]', '[4]', 'x')`,
    row(4, forged),
  );
  const found: number[] = [];
  for await (const page of patientPages(service.service.store.read, 4, {})) found.push(...page.map(({ id }) => id));
  expect(found.length).toBeGreaterThan(0);
  expect(found).not.toContain(forged);
  expect(await problemsOf(service)).toEqual(['above-head', 'altered'].map((what) => `audit.${what} entry ${forged}`));
});
