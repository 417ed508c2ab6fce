import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import EventsList from '../../../src/commands/events/list.ts';
import MirrorExport from '../../../src/commands/mirror/export.ts';
import MirrorSync from '../../../src/commands/mirror/sync.ts';
import MirrorVerify from '../../../src/commands/mirror/verify.ts';
import PlansList from '../../../src/commands/patientinsuranceplans/list.ts';
import PatientsList from '../../../src/commands/patients/list.ts';
import TransactionsList from '../../../src/commands/transactions/list.ts';
import { POSTGRES } from '../../../src/core/mirror/postgres/dialect.ts';
import { openNetwork } from '../../../src/core/transport/network.ts';
import { runCommand } from '../../cli/runcommand.ts';
import { startFaithful } from '../../faithful/service.ts';
import { PATIENTS } from '../../support/ids.ts';
import { onPostgres, postgresTest } from '../../support/postgres.ts';
import { Mirror } from './postgresmirror.ts';
import { readPostgres } from './postgresoracle.ts';

const clock = { now: Date.now, sleep: async () => {} };

describe('records in PostgreSQL', () => {
  postgresTest('is exported as the service itself is', (database) =>
    Mirror.use(database, async (mirror) => {
      await mirror.sync();
      const folder = join(mirror.env.MOLAR_CONFIG_DIR ?? '', 'files');
      const exported = await mirror.run('mirror:export', MirrorExport, ['--from', mirror.url, '--to', folder]);
      expect(exported.exitCode, exported.stderr).toBe(0);
      for (const [name, command] of Object.entries(LISTS)) {
        const listed = await mirror.run(`${name}:list`, command, ['--csv', '--all']);
        expect(await readFile(join(folder, `${name}.csv`), 'utf8'), name).toBe(listed.stdout);
      }
    }),
  );

  postgresTest('that it refuses end the load with its reason, and are loaded once it accepts them', (database) =>
    Mirror.use(database, async (mirror) => {
      expect((await mirror.sync(['transactiontags'])).exitCode).toBe(0);
      const alter = (change: string) =>
        onPostgres(async (client) => void (await client.query(`ALTER TABLE patients ${change}`)), mirror.url);
      await alter('ADD CONSTRAINT nobody CHECK (id = 0)');
      const { exitCode, stderr } = await mirror.sync(['patients']);
      expect(exitCode).toBe(9);
      expect(stderr).toMatch(/it refused a value \(23514\)/);
      await alter('DROP CONSTRAINT nobody');
      expect((await mirror.sync(['patients'])).exitCode).toBe(0);
      const [{ n }] = (await mirror.read('SELECT count(*)::int AS n FROM patients')) as [{ n: number }];
      expect(n).toBeGreaterThan(0);
    }),
  );

  postgresTest('takes what it has no form for, and learns new fields without keeping readers', async (database) => {
    const service = await startFaithful({ seed: 'postgres', moods: {} });
    try {
      const { url } = database;
      const sync = () =>
        runCommand('mirror:sync', MirrorSync, ['patients', '--to', url], { env: service.env, clock, openNetwork });
      expect((await sync()).exitCode).toBe(0);
      const [one, two, three] = service.records('patients').map(({ id }) => Number(id)) as [number, number, number];
      const odd = {
        lastName: 'A\u0000B\tC\\N\n\ud800',
        dateOfBirth: '2026-02-30',
        isReal: true,
        sizes: [1],
        note2: null,
      };
      service.edit('patients', one, odd);
      service.edit('patients', three, { isReal: true });
      await onPostgres(async (client) => {
        await client.query('BEGIN; SELECT 1 FROM patients LIMIT 1');
        const busy = await sync();
        expect(busy.exitCode, busy.stderr).toBe(0);
      }, url);
      const row = `SELECT last_name, date_of_birth, _record ->> 'dateOfBirth' AS told, _record ->> 'isReal' AS is FROM patients WHERE id = ${one}`;
      const kept = { last_name: 'A\ufffdB\tC\\N\n\ufffd', date_of_birth: null, told: '2026-02-30', is: 'true' };
      expect(await readPostgres(url, row)).toEqual([kept]);
      const columns = `SELECT column_name FROM information_schema.columns WHERE table_name = 'v_patients' AND table_schema = '${database.schema}'
        AND column_name IN ('is_real', 'sizes')`;
      expect(await readPostgres(url, columns)).toEqual([]);
      const long = 'x'.repeat(63);
      service.edit('patients', two, { isReal: false, 'xml:lang': 'de', [`${long}a`]: 1, [`${long}b`]: 2 });
      service.edit('patients', one, { ...odd, sizes: [2] });
      expect((await sync()).exitCode).toBe(0);
      expect(await readPostgres(url, columns)).toHaveLength(2);
      const learned = `SELECT is_real, sizes, (SELECT type FROM _columns WHERE table_name = 'patients' AND column_name = 'is_real') AS type
        FROM v_patients WHERE id IN (${one}, ${two}, ${three}) ORDER BY is_real DESC, sizes`;
      expect(await readPostgres(url, learned)).toEqual([
        { is_real: 1n, sizes: '[2]', type: 'boolean' },
        // No sync brought it again after the one that could not add the column.
        { is_real: 1n, sizes: null, type: 'boolean' },
        { is_real: 0n, sizes: null, type: 'boolean' },
      ]);
      // Fields keep their names in the statements of the proof, colons too.
      const words = ['patients', '--to', url];
      const verified = await runCommand('mirror:verify', MirrorVerify, words, { env: service.env, clock, openNetwork });
      expect(verified.exitCode, verified.stderr).toBe(0);
    } finally {
      await service.close();
    }
  });

  postgresTest('reads ids of 64 bits from JSON, and nothing beyond them', (database) =>
    onPostgres(async (client) => {
      const ids = ['7', '999999999999999999', '1234567890123456789', '9223372036854775807', '-5'];
      const others = ['9223372036854775808', '9999999999999999999', '12345678901234567890', '"x"', '1.5', 'null'];
      for (const sent of [...ids, ...others]) {
        const { rows } = await client.query(
          `SELECT ${POSTGRES.numberAt('json', 'location.id')} AS id FROM (SELECT $1::text AS json) AS sent`,
          [`{"location":{"id":${sent}}}`],
        );
        expect([sent, rows[0].id]).toEqual([sent, ids.includes(sent) ? sent : null]);
      }
    }, database.url),
  );

  postgresTest("tells nobody's name when it is de-identified", (database) =>
    Mirror.use(database, async (mirror) => {
      const key = join(mirror.env.MOLAR_CONFIG_DIR ?? '', 'analysis.key');
      const made = await mirror.sync(['--history', '--deidentify', key]);
      expect(made.exitCode, made.stderr).toBe(0);
      const facts = `SELECT count(*) AS rows, count(_record) AS records, count(last_name) AS names,
        bool_and(date_of_birth ~ '^[0-9]{4}$') AS years, bool_or(id = ${PATIENTS.ann}) AS known FROM patients`;
      const { data } = (await mirror.service.call('GET', '/patients', { query: { lastId: 0, pageSize: 500 } })).body;
      const rows = BigInt((data as unknown[]).length);
      expect(await mirror.read(facts)).toEqual([{ rows, records: 0n, names: 0n, years: 1n, known: 0n }]);
      const [event = {}] = (await mirror.service.call('GET', '/events', { query: { lastId: 0 } })).body.data as {
        id?: unknown;
      }[];
      await mirror.service.call('DELETE', `/events/${event.id}`);
      await mirror.service.call('PUT', `/patients/${PATIENTS.ann}`, { body: { state: 'TX', firstName: 'Other' } });
      const { json } = await mirror.sync();
      const changes = json.resources.map(({ table, added, changed, deleted }: Record<string, unknown>) => [
        table,
        added,
        changed,
        deleted,
      ]);
      expect(changes).toContainEqual(['patients', 0, 1, 0]);
      expect(changes).toContainEqual(['events', 0, 0, 1]);
      expect(await mirror.read("SELECT _operation FROM patients_history WHERE state = 'TX'")).toEqual([
        { _operation: 'UPDATE' },
      ]);
      expect(await mirror.read('SELECT start, location_id, _record FROM events_deleted')).toEqual([
        { start: null, location_id: null, _record: null },
      ]);
      expect((await mirror.sync()).json.resources[1]).toMatchObject({ changed: 0 });
      const verified = await mirror.verify(['patients', 'events', 'transactions']);
      expect(verified.exitCode, verified.stderr).toBe(0);
    }),
  );
});

/** Lists with objects and lists within records, whose members `jsonb` puts into another order. */
const LISTS = {
  patients: PatientsList,
  transactions: TransactionsList,
  patientinsuranceplans: PlansList,
  events: EventsList,
};
