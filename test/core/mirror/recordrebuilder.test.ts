import { expect, it } from 'vitest';
import { recordOf } from '../../../src/core/mirror/records.ts';
import { RecordRebuilder } from '../../../src/core/mirror/sql/recordrebuilder.ts';
import { SqlMirror } from '../../../src/core/mirror/sql/sqlmirror.ts';
import { SqliteDatabase } from '../../../src/core/mirror/sqlite/database.ts';
import { findTable, type MirrorTable } from '../../../src/core/mirror/tables.ts';
import { START } from '../../../src/core/pages/walkoptions.ts';
import { mirrorFolder } from './mirroring.ts';

const TRANSACTIONS = findTable('transactions') as MirrorTable;

it('records of a de-identified copy are made again of its rows, to the cent, with their lists in order', async () => {
  const { file } = await mirrorFolder();
  const key = { key: 'k', file: '/keys/the.key' };
  const facts = { organization: 'o', url: 'u', history: false, columns: {}, timezone: null, deidentified: key };
  const zones = { locations: [], zone: 'UTC', isComputers: false };
  const mirror = await SqlMirror.open(await SqliteDatabase.open(file), facts, {
    ...{ zones, instantOf: () => Number.NaN, now: () => 0 },
  });
  const made = Array.from({ length: 1201 }, (_, index) => ({
    id: index + 1,
    amount: [0.05, -0.05, -12.5, 100, 0][index % 5],
    distributions: Array.from({ length: index % 12 }, (_, at) => {
      return { chargeId: 50 - at, appliedAmount: at / 100, isActive: at % 2 === 0 };
    }),
  }));
  const shown = (text: string | undefined) => {
    const { id, amount, distributions } = JSON.parse(text ?? '{}');
    return { id, amount, distributions: distributions ?? [] };
  };
  try {
    const records = made.map((each) => recordOf(JSON.stringify(each)));
    await mirror.load(TRANSACTIONS, records, { ...START, since: '2026-01-01T00:00:00.000Z' });
    const { table } = await mirror.tables.rowsOf(TRANSACTIONS);
    const rebuilder = new RecordRebuilder(mirror.database, table);
    const found: object[] = [];
    for await (const page of rebuilder.pages()) found.push(...page.map(shown));
    expect(found).toEqual(made);
    const some = await rebuilder.recordsOf(['1200', '7', '5000']);
    expect([...some].map(([id, text]) => [id, shown(text)]).sort()).toEqual([
      ['1200', made[1199]],
      ['7', made[6]],
    ]);
  } finally {
    await mirror.close();
  }
});
