import sql from 'sql-template-tag';
import { beforeEach, describe, expect, it } from 'vitest';
import { openDataLocation } from '../../../src/server/maintenance/datalocation.ts';
import { turn } from '../../../src/server/maintenance/work.ts';
import { testService } from '../../support/service.ts';
import { copied, inDatabase, sharedPractice } from './practices.ts';

const practice = sharedPractice();

describe('a place of data', () => {
  let data: string;
  beforeEach(async () => {
    data = await copied(practice.base, practice.fresh());
  });

  it('knows whether a server runs on it, and keeps what is young there', async () => {
    const look = async () => {
      const { served, keepsYoung, name, close } = await openDataLocation({ data });
      await close();
      expect(name).toBe(data);
      return [served, keepsYoung];
    };
    expect(await look()).toEqual([false, false]);
    const service = await testService([], { data });
    expect(await look()).toEqual([true, true]);
    await service.close();
    expect(await look()).toEqual([false, false]);
  });

  it('is held against servers and writers until it is let go of, and by one at a time', async () => {
    const opened = await openDataLocation({ data });
    const release = await opened.hold();
    await expect(testService([], { data })).rejects.toThrow('Another server is running');
    await expect(opened.hold()).rejects.toThrow('Another server is running');
    const write = () =>
      inDatabase(data, (connection) => connection.exec('PRAGMA busy_timeout = 0; BEGIN IMMEDIATE; ROLLBACK'));
    expect(write).toThrow('database is locked');
    await release();
    write();
    const again = await opened.hold();
    await again();
    await (await testService([], { data })).close();
    write();
    await opened.close();
  });

  it('that could not be held is not locked', async () => {
    const opened = await openDataLocation({ data });
    const release = await inDatabaseHeld(data, () => opened.hold());
    expect(release).toMatchObject({ message: `${data} is being written to.` });
    await (await opened.hold())();
    await opened.close();
  });

  it('is seen as it is now, and a snapshot of it as it was', async () => {
    const opened = await openDataLocation({ data });
    const snapshot = await opened.snapshot();
    const tags = async (read: typeof opened.live) =>
      (await read.all(sql`SELECT name FROM document_tags WHERE name = 'Later'`)).length;
    inDatabase(data, (connection) =>
      connection.exec("INSERT INTO document_tags (org, fold, name) VALUES (1, 'later', 'Later')"),
    );
    expect([await tags(opened.live), await tags(snapshot.read)]).toEqual([1, 0]);
    await snapshot.close();
    await opened.close();
  });
});

/** What comes of something while somebody writes to the database of a folder. */
function inDatabaseHeld<T>(data: string, work: () => Promise<T>): Promise<unknown> {
  let attempt: Promise<unknown> | undefined;
  inDatabase(data, (connection) => {
    connection.exec('BEGIN IMMEDIATE');
    // It tries at once: the connection is closed behind that.
    attempt = work().catch((error: unknown) => error);
  });
  return attempt ?? Promise.resolve();
}

it('a long work tells where it is, lets others in, and ends when it is told to', async () => {
  const told: unknown[] = [];
  const stopping = new AbortController();
  const work = { progress: (...what: unknown[]) => void told.push(what), signal: stopping.signal, now: Date.now };
  let isLetIn = false;
  setImmediate(() => {
    isLetIn = true;
  });
  await turn(work, 'Copying', 3);
  expect([told, isLetIn]).toEqual([[['Copying', 3]], true]);
  setImmediate(() => stopping.abort(new Error('Stopped here.')));
  await expect(turn(work, 'Copying', 4)).rejects.toThrow('Stopped here.');
  expect(told).toHaveLength(2);
});
