import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sql from 'sql-template-tag';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Term } from '../../../../src/catalog/filter/check.ts';
import { patients } from '../../../../src/catalog/resources/patients.ts';
import { transactions } from '../../../../src/catalog/resources/transactions.ts';
import { openSums } from '../../../../src/server/reports/aging/openamounts.ts';
import { guarantorFacts } from '../../../../src/server/reports/aging/report.ts';
import { countRecords } from '../../../../src/server/store/counting.ts';
import { findRecord, readPageText } from '../../../../src/server/store/records.ts';
import { openSqliteStore } from '../../../../src/server/store/sqlite/store.ts';
import type { Reader, Statement, Store } from '../../../../src/server/store/store.ts';
import { openConnection } from '../../../../src/sqlite/open.ts';

let folder: string;
let store: Store;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-plans-'));
  await (await openSqliteStore(folder, { serving: false })).close();
  makeIndexesAnew(join(folder, 'molar.sqlite'));
  store = await openSqliteStore(folder, { serving: false });
});
afterAll(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

/** As tools do, with which what the planner was told of the indexes is gone: the next start tells it all it reads with. */
function makeIndexesAnew(file: string): void {
  const connection = openConnection(file);
  const indexes = connection
    .prepare("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")
    .all() as { name: string; sql: string }[];
  for (const { name, sql: text } of indexes) connection.exec(`DROP INDEX ${name}; ${text}`);
  connection.close();
}

/** A reader that runs nothing and keeps the statements that it is given. */
function recorder(): { readonly read: Reader; readonly statements: Statement[] } {
  const statements: Statement[] = [];
  return {
    statements,
    read: {
      all: async (statement) => {
        statements.push(statement);
        return [];
      },
      get: async (statement) => {
        statements.push(statement);
        return undefined;
      },
    },
  };
}

const term = (
  resource: typeof patients | typeof transactions,
  name: string,
  value: number | string,
  operator: Term['operator'] = '==',
): Term => {
  const key = Object.values(resource.filters).find((candidate) => candidate.key === name);
  if (key === undefined) throw new Error(`There is no filter key ${name}.`);
  return { key, operator, values: [value], all: false };
};
const slice = { lastId: 70_000_000_000_001, offset: 0, limit: 100 };
const days = [
  { today: '2026-03-02', locations: undefined },
  { today: '2026-03-03', locations: [6] },
];
const range = { first: 70_000_000_000_001, last: 70_000_000_000_900 };

/** What a large practice is asked most, each with the index that finds it. */
const CASES: readonly [string, (read: Reader) => Promise<unknown>, RegExp][] = [
  [
    'one record',
    (read) => findRecord(read, { org: 1 }, patients, 5),
    /SEARCH r USING INDEX sqlite_autoindex_patients_1 \(org=\? AND id=\?\)/,
  ],
  [
    'a page along the ids',
    (read) => readPageText(read, { org: 1 }, patients, [], slice),
    /SEARCH r USING INDEX sqlite_autoindex_patients_1 \(org=\? AND id>\?\)/,
  ],
  [
    'patients of a guarantor',
    (read) => readPageText(read, { org: 1 }, patients, [term(patients, 'primaryGuarantor.id', 5)], slice),
    /patients_by_primary_guarantor_id \(org=\? AND primary_guarantor_id=\? AND id>\?\)/,
  ],
  [
    'patients by e-mail address',
    (read) => readPageText(read, { org: 1 }, patients, [term(patients, 'emailAddress', 'a@example.com')], slice),
    /patients_by_email_address \(org=\? AND email_address=\? AND id>\?\)/,
  ],
  [
    'transactions of a patient',
    (read) => readPageText(read, { org: 1 }, transactions, [term(transactions, 'patient.id', 5)], slice),
    /transactions_by_patient_id \(org=\? AND patient_id=\? AND id>\?\)/,
  ],
  [
    'how many patients a location has',
    (read) => countRecords(read, { org: 1 }, patients, [term(patients, 'preferredLocation.id', 5)]),
    /SEARCH record_counts USING PRIMARY KEY \(org=\? AND table_name=\? AND place=\?\)/,
  ],
  [
    'how many transactions of a patient, since a day',
    (read) =>
      countRecords(read, { org: 1 }, transactions, [
        term(transactions, 'patient.id', 5),
        term(transactions, 'transactionDate', '0001-01-01', '>='),
      ]),
    /USING INDEX transactions_by_patient_id \(org=\? AND patient_id=\?\)/,
  ],
  [
    'how many patients there are',
    (read) => countRecords(read, { org: 1 }, patients, []),
    /SEARCH record_counts USING PRIMARY KEY \(org=\? AND table_name=\?\)/,
  ],
  [
    'what is open at a location',
    (read) => openSums(read, { org: 1 }, 5, range, days.slice(0, 1)),
    /SEARCH l USING PRIMARY KEY \(org=\? AND location_id=\? AND guarantor_id>\? AND guarantor_id<\?\)/,
  ],
  [
    'what is open in the whole organization',
    (read) => openSums(read, { org: 1 }, 'ALL', range, days),
    /SEARCH l USING COVERING INDEX ledger_by_guarantor \(org=\? AND guarantor_id>\? AND guarantor_id<\?\)/,
  ],
  [
    'what guarantors owe by their ids',
    (read) => openSums(read, { org: 1 }, 'ALL', [5, 6], days),
    /COVERING INDEX ledger_by_guarantor \(org=\? AND guarantor_id=\?\)/,
  ],
  [
    'who guarantors are',
    (read) => guarantorFacts(read, { org: 1 }, [5, 6]),
    /SEARCH p USING INDEX sqlite_autoindex_patients_1 \(org=\? AND id=\?\)/,
  ],
];

const since = term(patients, 'lastModified', '2025-01-01', '>=');
const until = term(patients, 'lastModified', '2026-01-01', '<');
const at = term(patients, 'preferredLocation.id', 5);
const shared = [term(transactions, 'location.id', 5), term(transactions, 'transactionDate', '2025-01-01', '>=')];

/** What may find many records or few. */
const RANGES: readonly [
  string,
  typeof patients | typeof transactions,
  readonly Term[],
  readonly number[] | undefined,
][] = [
  ['changes since', patients, [since], undefined],
  ['changes between', patients, [since, until], undefined],
  ['changes at a location', patients, [since, at], undefined],
  ['changes that somebody may see', patients, [since], [5, 6]],
  ['names that begin alike', patients, [term(patients, 'lastName', 'a', '~=')], undefined],
  ['all but those of a status', patients, [term(patients, 'patientStatus', 'ACTIVE', '!=')], undefined],
  ['transactions of a location since a day', transactions, shared, undefined],
  ['transactions of a location', transactions, shared.slice(0, 1), undefined],
  ['transactions of a provider', transactions, [term(transactions, 'provider.id', 5)], undefined],
];

describe('pages and counts in parts', () => {
  it.each(RANGES)(
    '%s: no statement reads more of an organization than its part',
    async (_, resource, terms, locations) => {
      const { read, statements } = recorder();
      const reach = { org: 1, ...(locations && { locations }) };
      // As if there were many: the ways to the records are gone along twice, and end there.
      let asked = 0;
      const many: Reader = {
        all: read.all,
        get: async <T extends object>(statement: Statement) => {
          await read.get(statement);
          if (/AS (found|total)/.test(statement.sql)) return { found: 5000, total: 5000 } as unknown as T;
          return asked++ < 8 ? ({ value: '2025-06-01', id: 70_000_000_000_500 + asked } as unknown as T) : undefined;
        },
      };
      await readPageText(many, reach, resource, terms, { ...slice, limit: 6000 });
      await countRecords(many, reach, resource, terms);
      expect(statements.length).toBeGreaterThan(8);
      for (const { sql: text, values } of statements.filter(({ sql: each }) => !each.includes('FROM record_counts'))) {
        const rows = await store.read.all<{ detail: string }>({
          ...sql``,
          sql: `EXPLAIN QUERY PLAN ${text}`,
          text,
          values,
        });
        const own = rows.map(({ detail }) => detail).filter((detail) => /^(SEARCH|SCAN) r\b/.test(detail));
        expect(own.length, text).toBeGreaterThan(0);
        for (const detail of own) expect(detail, text).toMatch(/^SEARCH r USING .*\(org=\? AND /);
      }
    },
  );
});

describe('plans of SQLite', () => {
  it.each(CASES)('%s: by index, nothing scanned', async (_, ask, index) => {
    const { read, statements } = recorder();
    await ask(read);
    expect(statements).toHaveLength(1);
    const { sql: text, values } = statements[0] as Statement;
    const rows = await store.read.all<{ detail: string }>({
      ...sql``,
      sql: `EXPLAIN QUERY PLAN ${text}`,
      text,
      values,
    });
    const plan = rows.map(({ detail }) => detail).join('\n');
    expect(plan).toMatch(index);
    expect(plan).not.toMatch(/SCAN [rl]\b/);
  });
});
