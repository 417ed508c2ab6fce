import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import MirrorStatus from '../../../src/commands/mirror/status.ts';
import MirrorSync from '../../../src/commands/mirror/sync.ts';
import MirrorVerify from '../../../src/commands/mirror/verify.ts';
import { openConnection } from '../../../src/sqlite/open.ts';
import type { World } from '../../cli/runcommand.ts';
import { Draws } from '../../faithful/random.ts';
import { OWNER_ONLY } from '../../support/capabilities.ts';
import type { TestService } from '../../support/service.ts';
import { CREDIT, DAMAGES, PATIENT } from './damages.ts';
import { mirrorFolder, openServer, runOnline } from './mirroring.ts';
import { disturbed } from './network.ts';
import { queried, wrongTables } from './oracle.ts';
import { changeSomething, serverRecords } from './practice.ts';
import { stillPractice } from './stillpractice.ts';

let service: TestService;
let folder: string;
let file: string;
let env: Readonly<Record<string, string>>;

/** For the tests that only damage a copy. */
const still = stillPractice();

beforeEach(async () => {
  ({ folder, file } = await mirrorFolder());
  ({ service, env } = still());
});

const copied = () => still().copyTo(file);

/** Makes a copy of a practice of the test's own, which it may change. */
async function copiedOwn(): Promise<void> {
  ({ service, env } = await openServer());
  await sync();
}

const run = (id: string, command: unknown, words: readonly string[], world: World = {}) =>
  runOnline(id, command, ['--to', file, ...words], { env, ...world });
const sync = (words: readonly string[] = [], world: World = {}) =>
  run('mirror:sync', MirrorSync, ['--json', ...words], world);
const verify = (words: readonly string[] = [], world: World = {}) =>
  run('mirror:verify', MirrorVerify, ['--json', ...words], world);

/** Writes to the file as somebody does who knows nothing of molar. */
function damage(sql: string): void {
  const connection = openConnection(file);
  try {
    connection.exec(sql);
  } finally {
    connection.close();
  }
}

/** When resources were compared, each time once. */
async function verifiedAt(): Promise<unknown[]> {
  const { json } = await run('mirror:status', MirrorStatus, ['--json']);
  return [...new Set(json.resources.map((each: { verifiedAt: unknown }) => each.verifiedAt))];
}

async function wrong(): Promise<Record<string, string[]>> {
  return wrongTables(file, service === still().service ? still().records : await serverRecords(service));
}

/** The ids of a query, as text. */
function ids(query: string): string[] {
  return queried(file, query).map(({ id }) => String(id));
}

/** What was found, of the resources in which anything was. */
function differences(report: { resources: Found[] }) {
  const found = report.resources.filter((each) => each.missing.length + each.extra.length + each.different.length > 0);
  return Object.fromEntries(
    found.map(({ resource, missing, extra, different }) => [resource, { missing, extra, different }]),
  );
}

interface Found {
  readonly resource: string;
  readonly missing: string[];
  readonly extra: string[];
  readonly different: { readonly id: string; readonly fields: string[] }[];
}

describe('molar mirror verify', () => {
  it.each(DAMAGES)('finds that %s, and mends it', async (_, sql, resource, wanted) => {
    await copied();
    const idOf = (query: string | string[] | undefined) =>
      typeof query === 'string' ? ids(`SELECT CAST(${query} AS TEXT) AS id`) : [];
    const expected = {
      missing: idOf(wanted.missing),
      extra: idOf(wanted.extra),
      different: idOf(wanted.different).map((id) => ({ id, fields: wanted.fields })),
    };
    damage(sql);
    const mended = await verify([resource, '--repair']);
    expect(mended.exitCode, mended.stderr).toBe(0);
    expect(differences(mended.json)).toEqual({ [resource]: expected });
    const count = Object.values(expected).flat().length;
    expect(mended.json).toMatchObject({ complete: true, differences: count, repaired: count });
    expect(await wrong()).toEqual({});
  });

  it('leaves damage until it is told to mend it, and finds nothing then', async () => {
    await copied();
    const both = ['patients', 'transactions'];
    const [patient = '', credit = ''] = ids(`SELECT ${PATIENT} AS id UNION ALL SELECT ${CREDIT}`);
    damage(`UPDATE patients SET first_name = 'Eve', last_name = NULL WHERE id = ${patient};
      INSERT INTO patients (id, _synced_at, _record) VALUES (77, '2026-01-01T00:00:00.000Z', '{"id":77}');
      DELETE FROM transactions WHERE id = ${credit}; UPDATE events SET title = 'x'`);
    const found = await verify(both);
    expect(found.exitCode, found.stderr).toBe(9);
    expect(differences(found.json)).toEqual({
      patients: { missing: [], extra: ['77'], different: [{ id: patient, fields: ['firstName', 'lastName'] }] },
      transactions: { missing: [credit], extra: [], different: [] },
    });
    expect(found.json).toMatchObject({ complete: true, repaired: 0, receipt: `${file}.verify.json` });
    // It was only looked at: the second time says the same, and people read a line for each.
    const again = await run('mirror:verify', MirrorVerify, both);
    expect([again.exitCode, await verifiedAt()]).toEqual([9, [null]]);
    const first = `patients 77: not on the server\npatients ${patient}: different in firstName, lastName\n`;
    expect([again.stdout, found.json.differences]).toEqual([`${first}transactions ${credit}: missing\n`, 3]);
    const mended = await verify([...both, '--repair']);
    expect(mended.exitCode, mended.stderr).toBe(0);
    const after = await verify(both);
    expect(after.exitCode, after.stderr).toBe(0);
    expect(after.json).toMatchObject({ differences: 0, repaired: 0 });
    // Damage here changes nothing of how much the server has.
    const served = (of: { resources: { serverRows: number }[] }) => of.resources.map(({ serverRows }) => serverRows);
    expect([served(found.json), served(mended.json)]).toEqual([served(after.json), served(after.json)]);
    const { json: status } = await run('mirror:status', MirrorStatus, ['--json']);
    for (const { resource, table, rows, verifiedAt } of status.resources) {
      expect([table, rows]).toEqual([table, Number(queried(file, `SELECT count(*) AS n FROM ${table}`)[0]?.n)]);
      expect([table, Date.parse(verifiedAt) > 0]).toEqual([table, both.includes(resource)]);
    }
    // What it was not told to look at is as it was.
    expect(Object.keys(await wrong())).toEqual(['events']);
  });

  it('finds rows that have changed places', async () => {
    await copied();
    const [first = '', second = ''] = ids('SELECT id FROM patients ORDER BY id LIMIT 2');
    damage(`UPDATE patients SET id = -1 WHERE id = ${first}; UPDATE patients SET id = ${first} WHERE id = ${second};
      UPDATE patients SET id = ${second} WHERE id = -1`);
    const { exitCode, json } = await verify(['patients', '--repair']);
    expect(exitCode).toBe(0);
    expect(json.resources.map(({ different }: Found) => different.map(({ id }) => id))).toEqual([[first, second]]);
    expect(await wrong()).toEqual({});
  });

  it('takes no change of the server for a difference, before it or during it', async () => {
    await copiedOwn();
    const draws = new Draws('changes during a comparison');
    for (let round = 0; round < 3; round++) {
      for (let change = 6; change > 0; change--) await changeSomething(service, draws);
      let left = 12;
      const meanwhile = disturbed(async () => {
        if (left-- > 0) await changeSomething(service, draws);
      });
      const busy = await verify([], { openNetwork: meanwhile });
      expect(differences(busy.json)).toEqual({});
      expect(busy.exitCode, busy.stderr).toBe(0);
    }
    expect((await verify()).exitCode).toBe(0);
    expect(await wrong()).toEqual({});
  });

  it('tells damage from changes of the server at the same time', async () => {
    await copiedOwn();
    const draws = new Draws('damage and changes');
    const [gone = ''] = ids(`SELECT ${PATIENT} AS id`);
    const [changed = ''] = ids(`SELECT ${CREDIT} AS id`);
    damage(`DELETE FROM patients WHERE id = ${gone}; UPDATE transactions SET note = 'x' WHERE id = ${changed}`);
    for (let change = 20; change > 0; change--) await changeSomething(service, draws);
    const { exitCode, json } = await verify();
    expect(exitCode).toBe(9);
    const { patients, transactions, ...others } = differences(json);
    expect(others).toEqual({});
    expect(patients?.missing).toEqual([gone]);
    expect(transactions?.different.map(({ id }) => id)).toEqual([changed]);
    expect((await verify(['--repair'])).exitCode).toBe(0);
    expect(await wrong()).toEqual({});
    expect(await verifiedAt()).not.toContain(null);
  });

  it('makes a row that is too many a tombstone, and what was mended a version', async () => {
    await sync(['patients', '--history']);
    const [id = ''] = ids(`SELECT ${PATIENT} AS id`);
    damage(`INSERT INTO patients (id, first_name, _synced_at, _record) VALUES (77, 'Eve', '2026-01-01T00:00:00.000Z', '{"id":77}');
      UPDATE patients SET first_name = 'Eve' WHERE id = ${id}`);
    expect((await verify(['patients', '--repair'])).exitCode).toBe(0);
    expect(queried(file, 'SELECT first_name FROM patients_deleted WHERE id = 77')).toEqual([{ first_name: 'Eve' }]);
    const versions = queried(
      file,
      `SELECT _operation AS o, _valid_to IS NULL AS now FROM patients_history WHERE id = ${id} ORDER BY rowid`,
    );
    expect(versions).toEqual([
      { o: 'CREATE', now: 0 },
      { o: 'UPDATE', now: 1 },
    ]);
    expect(queried(file, 'SELECT _operation AS o FROM patients_history WHERE id = 77')).toEqual([{ o: 'DELETE' }]);
    const { json } = await run('mirror:status', MirrorStatus, ['--json']);
    const deleted = json.resources.filter((each: { deleted: number }) => each.deleted > 0);
    expect(deleted).toEqual([expect.objectContaining({ resource: 'patients', deleted: 1 })]);
  });

  it('compares ids and counts, and the content of a sample', async () => {
    await copied();
    // Of the last no record can be asked for by its id.
    const some = ['patients', 'transactions', 'scheduletemplatereasons'];
    expect((await verify([...some, '--sample', '2'])).exitCode).toBe(0);
    // A sample proves nothing of the others.
    expect(await verifiedAt()).toEqual([null]);
    const [id = ''] = ids(`SELECT ${PATIENT} AS id`);
    damage(`DELETE FROM transactions WHERE id = ${CREDIT}; UPDATE patients SET first_name = 'Eve'`);
    const { exitCode, json } = await verify([...some, '--sample', '2']);
    expect(exitCode).toBe(9);
    const { patients, transactions } = differences(json);
    expect(patients?.different).toHaveLength(2);
    expect(transactions?.missing).toHaveLength(1);
    expect((await verify([...some, '--repair'])).exitCode).toBe(0);
    expect(await wrong()).toEqual({});
    expect(ids(`SELECT id FROM patients WHERE id = ${id} AND first_name = 'Eve'`)).toEqual([]);
    expect((await verify([...some, '--sample', '3'])).exitCode).toBe(0);
  });

  it('says what could not be mended (6), and goes on to say so', async () => {
    await copied();
    const again = (event: string) => `CREATE TRIGGER after_${event} AFTER ${event} ON patients
      WHEN new.first_name <> 'Eve' AND new.id = (SELECT min(patient_id) FROM patient_phones)
      BEGIN UPDATE patients SET first_name = 'Eve' WHERE id = new.id; END;`;
    // Something else in the file writes to it, too.
    damage(`UPDATE patients SET first_name = 'Eve' WHERE id = ${PATIENT}; UPDATE patients SET last_name = 'Eve';
      ${again('INSERT')} ${again('UPDATE')}`);
    const [id] = ids(`SELECT ${PATIENT} AS id`);
    const { exitCode, json, stderr } = await verify(['patients', '--repair']);
    expect([exitCode, JSON.parse(stderr).error]).toEqual([
      6,
      expect.objectContaining({ code: 'run.partial', message: expect.stringContaining('1 of its records differs') }),
    ]);
    expect([json.differences, json.repaired]).toEqual([json.resources[0].rows, json.resources[0].rows - 1]);
    expect(JSON.parse(await readFile(json.receipt, 'utf8'))).toMatchObject({ result: 'different', complete: true });
    const found = await verify(['patients']);
    expect([found.exitCode, differences(found.json)]).toEqual([
      9,
      { patients: { missing: [], extra: [], different: [{ id, fields: ['firstName'] }] } },
    ]);
  });

  it('respects the columns of the file', async () => {
    await sync(['patients', '--columns', 'patients:id,lastName,phones', '--timezone', 'America/Denver']);
    expect((await verify(['patients'])).exitCode).toBe(0);
    damage(`UPDATE patients SET last_name = 'Eve' WHERE id = ${PATIENT}`);
    const { json } = await verify(['patients']);
    expect(json.resources[0].different[0].fields).toEqual(['lastName']);
    expect((await verify(['patients', '--repair'])).exitCode).toBe(0);
    expect((await verify(['patients'])).exitCode).toBe(0);
  });

  it('leaves a receipt that another program can check', async () => {
    await copied();
    const receipt = join(folder, 'proof.json');
    const { exitCode, json } = await verify(['--receipt', receipt]);
    expect(exitCode).toBe(0);
    expect(json.receipt).toBe(receipt);
    expect((await stat(receipt)).mode & 0o777).toBe(OWNER_ONLY.file);
    const proof = JSON.parse(await readFile(receipt, 'utf8'));
    expect(proof).toMatchObject({
      result: 'equal',
      compared: 'all',
      differences: 0,
      organization: env.MOLAR_ORGANIZATION,
    });
    expect(proof).toMatchObject({ url: env.MOLAR_URL, asOf: json.asOf, complete: true });
    expect(proof.position).toMatch(/-\d+$/);
    const records = await serverRecords(service);
    for (const { resource, rows, serverRows, tables } of proof.resources) {
      const served = records.get(resource)?.map(({ id }) => BigInt(String(id))) ?? [];
      expect([resource, rows, serverRows]).toEqual([resource, served.length, served.length]);
      const text = served.toSorted((a, b) => (a < b ? -1 : 1)).map((id) => `${id}\n`);
      expect(tables[0].sha256).toBe(await sha256(text.join('')));
      for (const { query, sha256: digest, rows: counted } of tables) {
        const lines = queried(file, query).map((row) => `${Object.values(row)[0]}\n`);
        expect([digest, counted]).toEqual([await sha256(lines.join('')), lines.length]);
      }
    }
  });

  it('wants a mirror, and no other command that writes to it', async () => {
    const { exitCode, stderr } = await verify();
    expect(exitCode).toBe(4);
    expect(stderr).toContain('molar mirror sync');
  });
});

async function sha256(text: string): Promise<string> {
  return Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(text))).toString('hex');
}
