import { type AddressInfo, connect, createServer } from 'node:net';
import sql from 'sql-template-tag';
import { expect } from 'vitest';
import { openPostgresStore } from '../../../../src/server/store/postgres/store.ts';
import { preparedTest } from '../../../support/preparedschemas.ts';

/** A way to the database on which the answer to a commit is lost, with its connection, where `cutNext` has asked for it. */
async function cutAtCommit(address: string) {
  const url = new URL(address);
  const [port, host] = [Number(url.port || 5432), url.hostname];
  let isAsked = false;
  const server = createServer((near) => {
    const far = connect(port, host);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const)
      socket.on('error', () => {}).once('close', () => other.destroy());
    let isCut = false;
    near.on('data', (bytes) => {
      isCut ||= isAsked && bytes.includes('COMMIT\0');
      if (isCut) isAsked = false;
      far.write(bytes);
    });
    far.on('data', (bytes) => (isCut ? near.destroy() : near.write(bytes)));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url.href,
    cutNext: () => {
      isAsked = true;
    },
    close: () => new Promise((closed) => server.close(closed)),
  };
}

preparedTest('a write whose commit is not answered is not done again: it may have been made', async (database) => {
  const way = await cutAtCommit(database.url);
  const store = await openPostgresStore(way.url);
  let tries = 0;
  way.cutNext();
  const writing = store.write((tx) => {
    tries++;
    return tx.run(sql`INSERT INTO settings (name, value) VALUES ('once', '1')`);
  });
  await expect(writing).rejects.toMatchObject({ code: 'STORE_AWAY' });
  expect(tries).toBe(1);
  expect(await store.read.all(sql`SELECT value FROM settings WHERE name = 'once'`)).toEqual([{ value: '1' }]);
  await store.close();
  await way.close();
});
