import sql from 'sql-template-tag';
import { expect } from 'vitest';
import { openPostgresStore } from '../../../../src/server/store/postgres/store.ts';
import { gateTo } from '../../../support/postgres.ts';
import { preparedTest } from '../../../support/preparedschemas.ts';

preparedTest('a write whose commit is not answered is not done again: it may have been made', async (database) => {
  const gate = await gateTo(database.url);
  const store = await openPostgresStore(gate.url);
  let tries = 0;
  gate.loseCommit();
  const writing = store.write((tx) => {
    tries++;
    return tx.run(sql`INSERT INTO settings (name, value) VALUES ('once', '1')`);
  });
  await expect(writing).rejects.toMatchObject({ code: 'STORE_AWAY' });
  expect(tries).toBe(1);
  expect(await store.read.all(sql`SELECT value FROM settings WHERE name = 'once'`)).toEqual([{ value: '1' }]);
  await store.close();
  await gate.shut();
});
