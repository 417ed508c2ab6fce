import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { testPostgres } from '../../support/services.ts';
import { PATIENT } from '../molar.ts';
import { type Practice, practice, type Store } from './audited.ts';

const STORES: readonly Store[] = ['SQLite', ...((await testPostgres()) === undefined ? [] : (['PostgreSQL'] as const))];

interface Damage {
  readonly name: string;
  readonly does: readonly string[];
  readonly undoes: readonly string[];
  /** The error that `verify` names first. */
  readonly verified: string;
  /** Whether `export` and `patient` can go on all the same. */
  readonly isRead?: boolean;
}

/** Moves something away, and brings it back. */
const gone = (table: string): Omit<Damage, 'verified'> => ({
  name: `${table} is gone`,
  does: [`ALTER TABLE ${table} RENAME TO hidden`],
  undoes: [`ALTER TABLE hidden RENAME TO ${table}`],
});

/** The entry of the second patient is changed: `value` is SQL. */
const changed = (name: string, column: string, value: string): Damage => ({
  name,
  does: [
    `UPDATE audit_entries SET ${column} = ${value} WHERE id = (SELECT MAX(entry) FROM audit_patients WHERE bucket = ${PATIENT + 1})`,
  ],
  undoes: [
    `UPDATE audit_entries SET ${column} = (SELECT k.${column} FROM kept k WHERE k.id = audit_entries.id) WHERE id IN (SELECT id FROM kept)`,
  ],
  verified: 'audit.altered entry',
});

const DAMAGES: readonly Damage[] = [
  changed('a list that is cut short', 'patients', `'[1,'`),
  changed('a list of something else', 'patients', `'[{"id":1}]'`),
  changed('a list that goes backwards', 'ids', `'[[9,1]]'`),
  { ...gone('audit_patients'), verified: 'audit.altered head' },
  { ...gone('audit_entries'), verified: 'audit.altered head' },
  { ...gone('audit_checkpoints'), verified: 'audit.altered head', isRead: true },
  {
    name: 'a column is gone',
    does: ['ALTER TABLE audit_entries RENAME COLUMN patients TO hidden'],
    undoes: ['ALTER TABLE audit_entries RENAME COLUMN hidden TO patients'],
    verified: 'audit.altered head',
  },
];

/** What a database takes that the other refuses. */
const OWN: Readonly<Record<Store, readonly Damage[]>> = {
  SQLite: [changed('a list of bytes', 'filter_keys', `X'00ff'`)],
  PostgreSQL: [
    {
      ...changed('a number that is beyond what is exact', 'status', '9223372036854775807'),
      verified: 'audit.altered head',
    },
    {
      name: 'a column of another type',
      does: ['ALTER TABLE audit_entries ALTER COLUMN id TYPE TEXT'],
      undoes: ['ALTER TABLE audit_entries ALTER COLUMN id TYPE BIGINT USING id::BIGINT'],
      verified: 'audit.altered head',
    },
  ],
};

describe.each(STORES)('a damaged audit log on %s', (store) => {
  let tested: Practice;
  beforeAll(async () => {
    tested = await practice(store);
    const { token } = await tested.token('--scope', 'model:read');
    for (let n = 0; n < 3; n++) await tested.call(token, 'GET', `/patients/${PATIENT + n}`);
    await tested.served.stop();
  });
  beforeEach(() => tested.sql('DROP TABLE IF EXISTS kept', 'CREATE TABLE kept AS SELECT * FROM audit_entries'));
  afterAll(() => tested.end());

  it.each([...DAMAGES, ...OWN[store]].map((damage) => [damage.name, damage] as const))(
    'ends each command with exit 9 and what is wrong: %s',
    async (_name, { does, undoes, verified, isRead = false }) => {
      await tested.sql(...does);
      const exported = await tested.server('audit', 'export');
      const told = await tested.server('audit', 'patient', String(PATIENT + 1), '--json');
      const whole = await tested.server('audit', 'verify', '--json');
      const checked = await tested.server('check', '--json');
      await tested.sql(...undoes);
      for (const { code, stderr } of isRead ? [] : [exported, told]) {
        expect(code, stderr).toBe(9);
        expect(stderr).toMatch(/local\.file|The database is damaged|cannot be (?:read|written)/);
      }
      expect(whole.code, whole.stderr).toBe(9);
      const [first] = (JSON.parse(whole.stderr) as { error: { errors: { code: string; source: string }[] } }).error
        .errors;
      expect(`${first?.code} ${first?.source}`).toContain(verified);
      expect(checked.code, checked.stderr).toBe(9);
      for (const { stderr } of [exported, told, whole, checked])
        expect(stderr).not.toMatch(/defect of molar|run\.unexpected/);
    },
  );
});
