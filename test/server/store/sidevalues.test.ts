import sql, { raw } from 'sql-template-tag';
import { expect } from 'vitest';
import { patients } from '../../../src/catalog/resources/patients.ts';
import { blankRecord } from '../../../src/server/rendering.ts';
import { layoutOf } from '../../../src/server/store/layout.ts';
import { putRecord, removeRecord } from '../../../src/server/store/records.ts';
import { preparedSchema } from '../../support/preparedschemas.ts';
import { onBothStores } from './schema/olderpractice.ts';

const patient = (id: number, number: string) => ({
  ...blankRecord(patients),
  id,
  phones: [{ type: 'MOBILE', number }],
});
const [PHONES = ''] = layoutOf(patients).sides.map(({ table }) => table);

onBothStores(
  'A record is found by its own values alone, and another organization has its own record of the id',
  async (home) => {
    const store = await home.open();
    const put = (org: number, number: string) =>
      store.write((tx) => putRecord(tx, org, patients, patient(5, number)), org);
    const values = () => store.read.all(sql`SELECT org, value, id FROM ${raw(PHONES)} ORDER BY org, value`);
    try {
      await put(1, '8015550101');
      await put(2, '8015550102');
      await put(1, '8015550103');
      expect(await values()).toEqual([
        { org: 1, value: '8015550103', id: 5 },
        { org: 2, value: '8015550102', id: 5 },
      ]);
      await store.write((tx) => removeRecord(tx, 1, patients, 5), 1);
      expect(await values()).toEqual([{ org: 2, value: '8015550102', id: 5 }]);
    } finally {
      await store.close();
    }
  },
  preparedSchema,
);
