import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { type Files, FilesUnavailable } from '../../../src/server/files/files.ts';
import { CHECKS, CheckFindings, type CheckName } from '../../../src/server/maintenance/check/context.ts';
import { hashOf, orphans, unfinishedRemovals } from '../../../src/server/maintenance/check/files.ts';
import { distributionsOf } from '../../../src/server/maintenance/check/ledger.ts';
import { damageOf, reportingDamage } from '../../../src/server/maintenance/damage.ts';
import { AuditFault } from '../../../src/server/store/faults.ts';
import { openPostgresStore } from '../../../src/server/store/postgres/store.ts';
import type { Reader } from '../../../src/server/store/store.ts';
import { onPostgres, postgresTest } from '../../support/postgres.ts';
import { check, own } from './practices.ts';

const failing = (code: unknown, message = 'what happened') => Object.assign(new Error(message), { code });
const answered = (code: string, message = 'what happened') => Object.assign(new Error(message), { state: { code } });

describe('what a database says', () => {
  it.each([
    ['SQLITE_CORRUPT', failing('SQLITE_CORRUPT'), 'what happened'],
    ['SQLITE_CORRUPT_INDEX', failing('SQLITE_CORRUPT_INDEX'), 'what happened'],
    ['SQLITE_NOTADB', failing('SQLITE_NOTADB'), 'what happened'],
    ['SQLITE_IOERR_READ', failing('SQLITE_IOERR_READ'), 'what happened'],
    ['a table that is gone', failing('SQLITE_ERROR', 'no such table: x'), 'no such table: x'],
    ['a column that is gone', failing('SQLITE_ERROR', 'no such column: x'), 'no such column: x'],
    ['XX001 of PostgreSQL', answered('XX001'), 'XX001'],
    ['42P01 of PostgreSQL', answered('42P01'), 'what happened'],
    ['42703 of PostgreSQL', answered('42703'), 'what happened'],
    ['42804 of PostgreSQL', answered('42804'), 'what happened'],
    ['42883 of PostgreSQL', answered('42883'), 'what happened'],
    ['a number beyond what is exact', new RangeError('It is too large.'), 'It is too large'],
    ['the same of the audit log', new AuditFault(failing('SQLITE_CORRUPT')), 'what happened'],
  ])('is damage: %s', (_name, error, damage) => {
    expect(damageOf(error)).toBe(damage);
  });

  it.each([
    ['another error of SQLite', failing('SQLITE_ERROR', 'near "x": syntax error')],
    ['a busy database', failing('SQLITE_BUSY')],
    ['a full disk', failing('SQLITE_FULL')],
    ['one that is not the beginning', failing('NOT_SQLITE_CORRUPT')],
    ['a canceled statement', answered('57014')],
    ['an error without a code', new Error('x')],
    ['a code that is a number', failing(11)],
    ['nothing', undefined],
  ])('is no damage: %s', (_name, error) => {
    expect(damageOf(error)).toBeUndefined();
  });

  it('is reported as damage where everything is read, and as it is else', async () => {
    expect(await reportingDamage(async () => 7)).toBe(7);
    const cause = failing('SQLITE_CORRUPT', 'malformed');
    await expect(reportingDamage(() => Promise.reject(cause))).rejects.toMatchObject({
      ...{ name: 'StoreUnusable', message: 'The database is damaged: malformed.', cause },
    });
    const other = new Error('other');
    await expect(reportingDamage(() => Promise.reject(other))).rejects.toBe(other);
  });
});

describe('findings', () => {
  it('are counted all, and a thousand of each check listed', () => {
    const book = new CheckFindings();
    const problem = { table: null, organization: null, id: null, message: 'x' };
    for (let n = 0; n < 1005; n++) book.of('links').report({ ...problem, id: n });
    book.of('files').report(problem);
    book.of('files').counted(3);
    book.of('files').counted(4);
    expect([book.of('links').problems, book.of('links').listed.length, book.problems]).toEqual([1005, 1000, 1006]);
    expect(book.of('links').listed.at(-1)?.id).toBe(999);
    expect(book.of('files')).toMatchObject({ check: 'files', checked: 7, problems: 1, skipped: null });
    expect(book.all().map(({ check }) => check)).toEqual(Object.keys(CHECKS) as CheckName[]);
  });
});

const DAY = 24 * 60 * 60 * 1000;
const NOW = Date.UTC(2026, 2, 2);

/** A storage with these files, a store with these documents and removals. */
function storage(
  names: readonly (readonly [name: string, age: number])[],
  owned: readonly string[],
  removed: readonly string[] = [],
) {
  const gone = new Set<string>();
  const asked: number[] = [];
  const all = async ({ sql, values }: { readonly sql: string; readonly values: readonly unknown[] }) => {
    asked.push(values.length);
    if (sql.includes('file_removals')) return removed.filter((name) => values.includes(name)).map((name) => ({ name }));
    return owned.filter((guid) => values.includes(guid)).map((guid) => ({ guid, variants: 'original,thumbnail' }));
  };
  const files = {
    async *list() {
      for (const [name, age] of names) yield { name, size: 1, modified: new Date(NOW - age) };
    },
    size: async (name: string) => (gone.has(name) ? undefined : 1),
  };
  const told: number[] = [];
  const turn = async (_what: string, count: number) => void told.push(count);
  const context = (keepsYoung = false) => ({ files, live: { all } as unknown as Reader, keepsYoung, now: NOW, turn });
  return { context: context as unknown as (keepsYoung?: boolean) => Parameters<typeof orphans>[0], gone, told, asked };
}

async function found(context: Parameters<typeof orphans>[0]): Promise<string[]> {
  const names: string[] = [];
  for await (const name of orphans(context)) names.push(name);
  return names;
}

describe('files without a document', () => {
  it('are those that no document has, that nothing is to remove, and that are still there', async () => {
    const names = ['a-original', 'a-thumbnail', 'a-other', 'b-original', 'c-d-original', 'e-original', 'f-original'];
    const { context, gone } = storage(
      names.map((name) => [name, 0]),
      ['a', 'c-d'],
      ['e-original'],
    );
    expect(await found(context())).toEqual(['a-other', 'b-original', 'f-original']);
    gone.add('f-original');
    expect(await found(context())).toEqual(['a-other', 'b-original']);
    expect(await found(storage([], []).context())).toEqual([]);
  });

  it('are left alone for a day where their documents may be on the way', async () => {
    const { context } = storage(
      [
        ['a-original', DAY - 1],
        ['b-original', DAY],
        ['c-original', DAY + 1],
      ],
      [],
    );
    expect(await found(context(true))).toEqual(['b-original', 'c-original']);
    expect(await found(context(false))).toEqual(['a-original', 'b-original', 'c-original']);
  });

  it('are looked for 500 at a time', async () => {
    const names = Array.from({ length: 1001 }, (_, n) => `guid${n}-original`);
    const { context, told, asked } = storage(
      names.map((name) => [name, 0]),
      names.slice(1).map((name) => name.split('-')[0] ?? ''),
    );
    expect(await found(context())).toEqual(['guid0-original']);
    expect([told, asked]).toEqual([
      [500, 500],
      [500, 500, 500, 500, 1, 1],
    ]);
  });
});

describe('the hash of a file', () => {
  const of = (open: () => Promise<Readable>) => hashOf({ open } as unknown as Files, 'a-original');

  it('is none where it cannot be read to its end, and a storage that is away says nothing of it', async () => {
    expect(await of(async () => Readable.from([Buffer.from('ab'), Buffer.from('c')]))).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
    expect(await of(() => Promise.reject(failing('EIO')))).toBeUndefined();
    const away = new FilesUnavailable('away', undefined);
    await expect(of(() => Promise.reject(away))).rejects.toBe(away);
  });
});

describe('removals', () => {
  const HOUR = 60 * 60 * 1000;
  /** A store with removals, of which some are done by the second look. */
  function removals(first: readonly string[], later: readonly string[] = first) {
    const dues: unknown[] = [];
    const all = async ({ values }: { readonly values: readonly unknown[] }) => {
      dues.push(values[0]);
      return (dues.length === 1 ? first : later).map((name) => ({ name }));
    };
    return { live: { all } as unknown as Reader, dues };
  }

  it('that are due are to be done at once where no server runs', async () => {
    const { live, dues } = removals(['a', 'b'], []);
    expect(await unfinishedRemovals({ live, served: false, now: NOW })).toEqual(['a', 'b']);
    expect(dues).toEqual(['']);
  });

  it('of a running server are late after three hours, where they are still there a moment later', async () => {
    const { live, dues } = removals(['a', 'b', 'c'], ['b', 'c', 'd']);
    const began = performance.now();
    expect(await unfinishedRemovals({ live, served: true, now: NOW })).toEqual(['b', 'c']);
    expect(performance.now() - began).toBeGreaterThan(1900);
    const due = new Date(NOW - 3 * HOUR).toISOString();
    expect(dues).toEqual([due, due]);
    expect(await unfinishedRemovals({ ...removals([]), served: true, now: NOW })).toEqual([]);
  });
});

describe('what credits distribute', () => {
  const credit = { id: 9, is_active: 1, amount_cents: -500, ledger_type: 'Payment' };
  const part = { chargeId: 4, appliedAmount: 1.25, isActive: true };
  const of = (parts: unknown, change: Partial<typeof credit> = {}) =>
    distributionsOf([{ ...credit, ...change, json: JSON.stringify({ distributions: parts }) }]);
  const row = { credit_id: 9, charge_id: 4, cents: 125, by_insurance: 0 };

  it('is the sum of its active parts on each charge', () => {
    expect(of([part])).toEqual([row]);
    expect(of([part, { ...part, appliedAmount: 2 }, { ...part, chargeId: 5 }])).toEqual([
      { ...row, cents: 325 },
      { ...row, charge_id: 5 },
    ]);
    expect(of([part], { ledger_type: 'InsurancePayment' })).toEqual([{ ...row, by_insurance: 1 }]);
    expect(of([{ ...part, chargeId: 0, appliedAmount: 0 }])).toEqual([{ ...row, charge_id: 0, cents: 0 }]);
  });

  it.each<[string, unknown, Partial<typeof credit>]>([
    ['a part that is not active', [{ ...part, isActive: false }], {}],
    ['a part that does not say so', [{ ...part, isActive: null }], {}],
    ['a part of no charge', [{ ...part, chargeId: null }], {}],
    ['a part without an amount', [{ ...part, appliedAmount: undefined }], {}],
    ['no list', 'text', {}],
    ['no parts', undefined, {}],
    ['a credit that is not active', [part], { is_active: 0 }],
    ['a charge', [part], { amount_cents: 500 }],
    ['nothing', [part], { amount_cents: 0 }],
  ])('is nothing of %s', (_name, parts, change) => {
    expect(of(parts, change)).toEqual([]);
  });

  it('is nothing of what cannot be read', () => {
    expect(distributionsOf([{ ...credit, json: '{' }])).toEqual([]);
  });
});

postgresTest(
  'what PostgreSQL is asked after something that it cannot read is skipped, and said so',
  async (database) => {
    await (await openPostgresStore(database.url)).close();
    await onPostgres(async (client) => {
      await client.query(
        'INSERT INTO distributions (org, charge_id, credit_id, cents, by_insurance) VALUES (1, 5, 6, 7, 0)',
      );
      // What the check of the ledger adds up.
      await client.query('ALTER TABLE distributions ALTER COLUMN cents TYPE text USING cents::text');
    }, database.url);
    const folder = await mkdtemp(join(tmpdir(), 'molar-damage-'));
    const { checks, problems } = await check({ data: folder, database: own(database) });
    await rm(folder, { recursive: true });
    expect(problems.at(-1)).toMatchObject({ check: 'ledger', message: expect.stringMatching(/^cannot be read: /) });
    const skipped = 'the database answers nothing more after what it could not read';
    const found = Object.fromEntries(checks.map(({ name, skipped: why }) => [name, why]));
    expect(found).toMatchObject({ records: null, counts: null, ledger: null, sequences: skipped, access: skipped });
  },
);
