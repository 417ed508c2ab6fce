import { expect, it } from 'vitest';
import { STORED_RESOURCES } from '../../../src/catalog/catalog.ts';
import type { CheckContext } from '../../../src/server/maintenance/check/context.ts';
import { checkLinks, checkReferrals } from '../../../src/server/maintenance/check/links.ts';
import type { RecordPage } from '../../../src/server/maintenance/check/pages.ts';
import { checkDatabase } from '../../../src/server/maintenance/check/schema.ts';
import { checkUniqueness } from '../../../src/server/maintenance/check/uniqueness.ts';
import { layoutOf } from '../../../src/server/store/layout.ts';
import { foundIn } from './barechecks.ts';

it('the check of links leaves those alone that outlive what they lead to', async () => {
  const resource = STORED_RESOURCES.find(({ type }) => type === 'AppointmentHistoryV1');
  const fields = resource?.fields ?? {};
  const records = [{ id: 5, record: { appointment: { id: 1 }, patient: { id: 2 } } as never }];
  const tables = STORED_RESOURCES.map((each) => `CREATE TABLE ${layoutOf(each).table} (org, id);`).join(' ');
  expect(
    await foundIn(tables, (context, book) => checkLinks(context, book, { org: 1, table: 'x', fields, records })),
  ).toEqual(['1 x 5: patient leads to PatientV1 2, which does not exist']);
});

it('the check of referrals wants them in the order of ids, however the rows lie', async () => {
  const rows =
    'CREATE TABLE patients (org, id, referred_by_patient_id); INSERT INTO patients VALUES (1, 9, 3), (1, 7, 3)';
  const page: RecordPage<unknown> = { org: 1, rows: [], after: 0, upTo: undefined };
  const found = (...ids: number[]) =>
    foundIn(rows, (context, book) =>
      checkReferrals(context, book, page, [
        { id: 3, record: { referredPatients: ids.map((id) => ({ id })) } as never },
      ]),
    );
  expect(await found(7, 9)).toEqual([]);
  expect(await found(9, 7)).toEqual(['1 patients 3: referredPatients are not the patients that it referred']);
});

it('the check of uniqueness tells each of several values that stand more than once', async () => {
  const tables = STORED_RESOURCES.map((resource) => {
    const { table, indexes } = layoutOf(resource);
    const columns = indexes.filter(({ unique }) => unique !== undefined).flatMap((index) => index.columns);
    return `CREATE TABLE ${table} (${[...new Set(['org', 'id', ...columns, ...(table === 'documents' ? ['guid'] : [])])]});`;
  });
  const rows =
    "INSERT INTO documents (org, id, guid) VALUES (1, 2, 'a'), (1, 3, 'b'), (1, 4, 'a'), (1, 5, 'c'), (2, 6, 'b')";
  expect((await foundIn(`${tables.join(' ')} ${rows}`, checkUniqueness)).sort()).toEqual([
    '1 documents 4: has the file of another document',
    '2 documents 6: has the file of another document',
  ]);
});

it('what the database says of itself in several lines are several problems', async () => {
  const read = { all: async () => [{ message: 'Tree 5 page 3: x\nTree 5 page 4: y' }, { message: 'row 7 missing' }] };
  const lines = foundIn('', ({ organization }, book) =>
    checkDatabase({ read, dialect: 'sqlite', organization } as unknown as CheckContext, book),
  );
  expect(await lines).toEqual([': Tree 5 page 3: x', ': Tree 5 page 4: y', ': row 7 missing']);
});
