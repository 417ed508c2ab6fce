import sql from 'sql-template-tag';
import { expect } from 'vitest';
import { openPostgresStore } from '../../../../src/server/store/postgres/store.ts';
import { SCHEMA } from '../../../../src/server/store/schema/schema.ts';
import { DATABASE_NOW, lastOther, noteEnd, noteServer } from '../../../../src/server/store/schema/servers.ts';
import { preparedTest } from '../../../support/preparedschemas.ts';

const MINUTE = 60_000;
const { fingerprint } = SCHEMA;

preparedTest(
  'servers are known as long as an upgrade may wait for them, and forgotten after a day',
  async ({ url }) => {
    const store = await openPostgresStore(url);
    const note = (id: string, minutes: number) =>
      store.write((tx) =>
        tx.run(sql`INSERT INTO servers (id, molar, fingerprint, seen_at, is_running)
        VALUES (${id}, ${id}, 'other', ${DATABASE_NOW} - CAST(${minutes * MINUTE} AS BIGINT), 1)`),
      );
    const other = async (minutes: number, running = false) =>
      (await lastOther(store.read, fingerprint, minutes * MINUTE, running))?.molar;
    try {
      await note('seen', 9);
      await note('long ago', 23 * 60);
      await note('gone', 25 * 60);
      await store.write((tx) => noteServer(tx, { id: 'own', fingerprint }));
      const names = await store.read.all<{ id: string }>(
        sql`SELECT id FROM servers WHERE fingerprint = 'other' ORDER BY id`,
      );
      expect(names.map(({ id }) => id)).toEqual(['long ago', 'seen']);
      expect([await other(10), await other(8), await other(10, true)]).toEqual(['seen', undefined, 'seen']);
      await store.write((tx) => noteEnd(tx, { id: 'seen', fingerprint: 'other' }));
      expect([await other(1), await other(1, true), await other(24 * 60, true)]).toEqual([
        'seen',
        undefined,
        'long ago',
      ]);
    } finally {
      await store.close();
    }
  },
);
