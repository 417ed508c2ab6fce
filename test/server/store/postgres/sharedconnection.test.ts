import sql from 'sql-template-tag';
import { expect } from 'vitest';
import { openPostgresStore } from '../../../../src/server/store/postgres/store.ts';
import { preparedTest } from '../../../support/preparedschemas.ts';

const PID = sql`SELECT pg_backend_pid() AS pid`;

preparedTest('lookups share a connection; those of a turn that are equal are one statement', async (database) => {
  const store = await openPostgresStore(database.url);
  const lookups = [store.lookupsFor('a'), store.lookupsFor('b')];
  const numbered = sql`SELECT nextval('asked') AS asked, pg_backend_pid() AS pid`;
  await store.write((tx) => tx.run(sql`CREATE SEQUENCE asked`));
  const together = await Promise.all(lookups.map((read) => read.get<{ asked: number; pid: number }>(numbered)));
  expect(together[0]?.asked).toBe(1);
  expect(together[1]).toEqual(together[0]);
  // Whoever asks later sees what was committed meanwhile.
  expect(await lookups[1]?.get(numbered)).toEqual({ asked: 2, pid: together[0]?.pid });
  await store.close();
});

preparedTest('a lookup whose connection was lost is done again on another', async (database) => {
  const store = await openPostgresStore(database.url);
  const read = store.lookupsFor('a');
  const before = await read.get<{ pid: number }>(PID);
  await store.read.get(sql`SELECT pg_terminate_backend(${before?.pid})`);
  const after = await read.get<{ pid: number }>(PID);
  expect(after?.pid).toEqual(expect.any(Number));
  expect(after?.pid).not.toBe(before?.pid);
  await store.close();
});
