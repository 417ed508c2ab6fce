import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import MirrorExport from '../../../src/commands/mirror/export.ts';
import { openConnection } from '../../../src/sqlite/open.ts';
import { Draws } from '../../faithful/random.ts';
import { PATIENTS } from '../../support/ids.ts';
import { organizationRecords, tokenRecords } from '../../support/practice.ts';
import type { TestService } from '../../support/service.ts';
import { contentOf, openPlace, WANDA } from './deidentified.ts';
import { answered, disturbed, openNetwork, without } from './network.ts';
import { queried, TABLES } from './oracle.ts';
import { bytesBelow, Finder, originalsOf } from './originals.ts';
import { changeSomething, serverRecords } from './practice.ts';

type Place = Awaited<ReturnType<typeof openPlace>>;

let service: TestService;
let folder: string;
let file: string;
let key: string;
let sync: Place['sync'];
let verify: Place['verify'];
let run: Place['run'];

beforeEach(async () => {
  ({ service, folder, file, key, sync, verify, run } = await openPlace());
});

async function firstId(path: string): Promise<unknown> {
  const { body } = await service.call('GET', path, { query: { lastId: 0 } });
  return (body.data as { id: unknown }[])[0]?.id;
}

const thisYear = () => Number(service.clock.text().slice(0, 4));

async function originals(): Promise<Set<string>> {
  return originalsOf([...(await serverRecords(service)).values()].flat());
}

describe('a de-identified mirror', () => {
  it('has no original in any byte that is ever on the disk', async () => {
    const known = await originals();
    const seen: Buffer[] = [];
    // At the last request of a sync: whatever it wrote before is still in the log of the file.
    let last: Buffer = Buffer.alloc(0);
    const watching = disturbed(async () => {
      last = await bytesBelow(folder);
    });
    const draws = new Draws('originals');
    const paging = ['--page-size', '5', '--parallel', '1'];
    expect(await sync(['--deidentify', key, '--history', ...paging], { openNetwork: watching })).toMatchObject({
      exitCode: 0,
    });
    for (let change = 0; change < 15; change++) await changeSomething(service, draws);
    await service.call('PUT', `/patients/${WANDA.id}`, { body: { city: 'Otherwhereton', lastName: 'Zyzzyvaworth' } });
    for (const original of await originals()) known.add(original);
    for (const path of ['events', 'documents']) {
      const id = await firstId(`/${path}`);
      await service.call('DELETE', `/${path}/${id}`, { query: { recurrenceTarget: 'OCCURRENCE' } });
    }
    seen.push(last);
    expect(await sync([], { openNetwork: watching })).toMatchObject({ exitCode: 0 });
    seen.push(last);
    // Without the stream everything is read, swept and compared.
    const network = answered(async (url) => {
      last = await bytesBelow(folder);
      return url.replace('/stream', '/nothing');
    });
    for (let change = 0; change < 10; change++) await changeSomething(service, draws);
    for (const original of await originals()) known.add(original);
    expect(await sync([], { openNetwork: network })).toMatchObject({ exitCode: 0 });
    seen.push(last);
    expect(await verify(['--repair'])).toMatchObject({ exitCode: 0 });
    for (const format of ['csv', 'ndjson', 'parquet', 'xlsx']) {
      const to = ['--from', file, '--to', join(folder, format), '--format', format];
      expect(await run('mirror:export', MirrorExport, to)).toMatchObject({ exitCode: 0 });
    }
    seen.push(await bytesBelow(folder));

    const empty = await openPlace([...organizationRecords(), ...tokenRecords()]);
    await empty.sync(['--deidentify', empty.key, '--history']);
    const words = new Finder(known).in(await bytesBelow(empty.folder));
    // The copy's own instants are of today.
    const today = service.clock.text().slice(0, 10);
    const finder = new Finder([...known].filter((original) => !words.has(original) && !original.startsWith(today)));
    expect(finder.count).toBeGreaterThan(150);
    expect([...words].length).toBeLessThan(10);
    expect([...finder.in(Buffer.concat(seen))]).toEqual([]);
    // Short originals, which bytes may have by chance, are in no cell.
    const cells = new Set(
      Object.values(contentOf(file)).flatMap((rows) =>
        (rows as string[]).flatMap((row) => Object.values(JSON.parse(row)).map(String)),
      ),
    );
    expect([...known].filter((original) => cells.has(original) && !/^\d$/.test(original))).toEqual([]);
  });

  it('counts, sums and joins as the mirror in the clear', async () => {
    const clear = join(folder, 'clear.db');
    await sync([], {}, clear);
    await sync();
    const QUERIES = [
      ...Object.values(TABLES).map((table) => `SELECT count(*) AS n FROM ${table}`),
      'SELECT p.state, p.gender, count(*) AS n, sum(t.amount_cents) AS cents FROM patients p JOIN transactions t ON t.patient_id = p.id GROUP BY p.id ORDER BY 1, 2, 3, 4',
      'SELECT d.applied_amount_cents, d.is_active, t.amount_cents FROM transaction_distributions d JOIN transactions t ON t.id = d.charge_id ORDER BY 1, 2, 3',
      'SELECT k.key, g.tag_type, count(*) AS n FROM transaction_transaction_tags k JOIN transaction_tags g ON g.id = k.transaction_tag_id GROUP BY 1, 2 ORDER BY 1, 2',
      'SELECT h.status, h.action, count(a.id) AS n FROM appointment_histories h LEFT JOIN appointments a ON a.id = h.appointment_id GROUP BY 1, 2 ORDER BY 1, 2',
      'SELECT count(*) AS n FROM patient_referred_patients r JOIN patients p ON p.id = r.referred_patient_id',
      'SELECT count(*) AS n FROM event_recurrence_days',
      'SELECT count(DISTINCT group_id) AS n FROM events',
      'SELECT outstanding, unapplied FROM v_balances ORDER BY 1, 2',
      'SELECT substr(start, 1, 4) AS year, duration, status FROM appointments ORDER BY 1, 2, 3',
    ];
    const EXPORTED = ['transactions', 'patients'];
    expect(
      await run('mirror:export', MirrorExport, [...EXPORTED, '--from', file, '--to', folder, '--format', 'ndjson']),
    ).toMatchObject({ exitCode: 0 });
    const records = await serverRecords(service);
    // What is exported is made of the columns: the same sums, and nothing that was left out.
    const exported = async (name: string) =>
      (await readFile(join(folder, `${name}.ndjson`), 'utf8'))
        .trimEnd()
        .split('\n')
        .map((each) => JSON.parse(each));
    const figures = (all: readonly Record<string, unknown>[]) =>
      all
        .map(({ amount, isActive, distributions, transactionTags }) =>
          JSON.stringify([
            amount,
            isActive,
            (distributions as { appliedAmount: number }[]).map(({ appliedAmount }) => appliedAmount),
            Object.keys(transactionTags ?? {}),
          ]),
        )
        .sort();
    expect(figures(await exported('transactions'))).toEqual(figures(records.get('transactions') ?? []));
    const years = (all: readonly Record<string, unknown>[]) =>
      all
        .map(({ gender, income, firstVisitDate }) =>
          JSON.stringify([gender, income, String(firstVisitDate).slice(0, 4)]),
        )
        .sort();
    expect(years(await exported('patients'))).toEqual(years(records.get('patients') ?? []));
    for (const query of QUERIES) expect(queried(file, query), query).toEqual(queried(clear, query));
    expect(queried(file, 'SELECT count(*) AS n FROM transactions')[0]?.n).toBeGreaterThan(3);
    expect(queried(file, 'SELECT _record FROM patients WHERE _record IS NOT NULL')).toEqual([]);
    expect(
      queried(file, 'SELECT patient_id FROM patient_phones UNION ALL SELECT document_id FROM document_tags'),
    ).toEqual([]);
  });

  it.each(['the stream', 'lastModified'])('after changes told by %s is what a new one with its key is', async (how) => {
    const network = how === 'the stream' ? openNetwork : without('/stream');
    await sync(['--deidentify', key], { openNetwork: network });
    const draws = new Draws(`de-identified by ${how}`);
    const meanwhile = answered(async (url) => {
      if (draws.chance(0.3)) await changeSomething(service, draws);
      return how === 'the stream' ? url : url.replace('/stream', '/nothing');
    });
    for (let change = 0; change < 8; change++) await changeSomething(service, draws);
    const busy = await sync([], { openNetwork: meanwhile });
    expect(busy.exitCode, busy.stderr).toBe(0);
    const { exitCode, stderr } = await sync([], { openNetwork: network });
    expect(exitCode, stderr).toBe(0);
    const fresh = join(folder, 'fresh.db');
    expect(await sync(['--deidentify', key], {}, fresh)).toMatchObject({ exitCode: 0 });
    // Without the stream nothing tells whom a patient has referred.
    const { patient_referred_patients: here, ...content } = contentOf(file);
    const { patient_referred_patients: there, ...wanted } = contentOf(fresh);
    expect(content).toEqual(wanted);
    if (how === 'the stream') expect(here).toEqual(there);
    const again = await sync([], { openNetwork: network });
    const changed = again.json.resources.filter(
      ({ added, changed, deleted }: Record<string, number>) => added || changed || deleted,
    );
    expect(changed).toEqual([]);
  });

  it('goes on with a load that was cut off', async () => {
    let requests = 0;
    const dying = disturbed(async () => {
      if (++requests > 30) throw new Error('cut off');
    });
    const first = await sync(['--deidentify', key, '--page-size', '1', '--parallel', '1'], { openNetwork: dying });
    expect(first.exitCode).not.toBe(0);
    const progress = queried(file, 'SELECT read FROM _progress WHERE read IS NOT NULL');
    expect(progress.length).toBeGreaterThan(0);
    expect(await sync([])).toMatchObject({ exitCode: 0 });
    const fresh = join(folder, 'fresh.db');
    await sync(['--deidentify', key], {}, fresh);
    expect(contentOf(file)).toEqual(contentOf(fresh));
  });

  it('has tombstones without content, and versions', async () => {
    await sync(['--deidentify', key, '--history']);
    await service.call('PUT', `/patients/${PATIENTS.ann}`, { body: { gender: 'O', firstName: 'Anna' } });
    await service.call('PUT', `/patients/${PATIENTS.bob}`, { body: { firstName: 'Robert' } });
    const id = await firstId('/events');
    await service.call('DELETE', `/events/${id}`, { query: { recurrenceTarget: 'OCCURRENCE' } });
    const { json } = await sync([]);
    const changes = Object.fromEntries(
      json.resources.map(({ resource, changed, deleted }: Record<string, unknown>) => [resource, [changed, deleted]]),
    );
    // Of Bob nothing changed that is kept.
    expect(changes).toMatchObject({ patients: [1, 0], events: [0, 1] });
    const [{ id: gone, _synced_at, _deleted_at, ...content } = {}] = queried(file, 'SELECT * FROM events_deleted');
    expect(new Set(Object.values(content))).toEqual(new Set([null]));
    expect([gone === id, _deleted_at]).toEqual([false, `${thisYear()}-01-01T00:00:00.000Z`]);
    expect(
      queried(
        file,
        'SELECT gender, _operation FROM patients_history WHERE id IN (SELECT id FROM patients_history GROUP BY id HAVING count(*) > 1) ORDER BY rowid',
      ),
    ).toEqual([
      { gender: expect.any(String), _operation: 'CREATE' },
      { gender: 'O', _operation: 'UPDATE' },
    ]);
    const times = queried(
      file,
      'SELECT _synced_at AS at FROM patients UNION SELECT _valid_from FROM patients_history UNION SELECT _valid_to FROM patients_history',
    );
    expect(times).toEqual([{ at: null }, { at: _deleted_at }]);
  });

  it('does not keep what the service says when it refuses a resource', async () => {
    const refused = { openNetwork: without('/patientinsuranceplans') };
    await sync(['events', 'patientinsuranceplans', '--deidentify', key], refused);
    expect(queried(file, 'SELECT unavailable FROM _mirror WHERE unavailable IS NOT NULL')).toEqual([
      { unavailable: 'HTTP 404' },
    ]);
  });

  it('is compared with the service in what it keeps, and mended', async () => {
    await sync();
    const damaged = openConnection(file);
    damaged.exec(
      "UPDATE patients SET state = 'TX' WHERE postal_code = '000'; DELETE FROM transactions WHERE id IN (SELECT min(id) FROM transactions)",
    );
    const [{ id: pseudonym } = {}] = queried(file, "SELECT id FROM patients WHERE state = 'TX'");
    damaged.close();
    // What has changed since the last sync is no difference.
    await service.call('PUT', `/patients/${PATIENTS.ann}`, { body: { gender: 'O' } });
    const found = await verify(['--repair']);
    expect(found.exitCode, found.stderr).toBe(0);
    const different = found.json.resources.flatMap(({ different }: { different: unknown[] }) => different);
    expect(different).toEqual([{ id: String(pseudonym), fields: ['state'] }]);
    expect(found.json).toMatchObject({ differences: 2, repaired: 2 });
    // When a row was mended tells no more than the year.
    const year = `${thisYear()}-01-01T00:00:00.000Z`;
    const times = 'SELECT _synced_at AS at FROM patients UNION SELECT _synced_at FROM transactions';
    expect(queried(file, times)).toEqual([{ at: year }]);
    // A late change is none without the stream either.
    await service.call('PUT', `/patients/${PATIENTS.bob}`, { body: { gender: 'O' } });
    const pulled = await verify(['patients'], { openNetwork: without('/stream') });
    expect(pulled, pulled.stderr).toMatchObject({ exitCode: 0, json: { differences: 0 } });
    const fresh = join(folder, 'fresh.db');
    await sync(['--deidentify', key], {}, fresh);
    expect(contentOf(file)).toEqual(contentOf(fresh));
  });

  it('has years, areas and no birth year of old people, whenever they become old', async () => {
    await sync(['--deidentify', key, '--history']);
    const wanda = "postal_code = '000' AND first_visit_date = '2019'";
    expect(queried(file, `SELECT date_of_birth, state FROM patients WHERE ${wanda}`)).toEqual([
      { date_of_birth: null, state: 'CO' },
    ]);
    const year = thisYear();
    expect(queried(file, 'SELECT max(date_of_birth) AS born FROM patients')[0]?.born).toMatch(/^\d{4}$/);
    const connection = openConnection(file);
    const tables = ['patients', 'patients_history'];
    for (const table of tables) connection.exec(`UPDATE ${table} SET date_of_birth = '${year - 90}' WHERE ${wanda}`);
    connection.close();
    await sync([]);
    const born = tables.map((table) => `SELECT date_of_birth AS b FROM ${table} WHERE ${wanda}`);
    expect(queried(file, born.join(' UNION ALL '))).toEqual([{ b: null }, { b: null }]);
  });
});
