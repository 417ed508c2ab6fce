import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import sql, { raw } from 'sql-template-tag';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { linksOf, posted } from '../server/resources/documentsof.ts';
import { PDF } from '../support/files.ts';
import { bareRecords, line } from '../support/practice.ts';
import { sharedService } from '../support/service.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** What the service does every hour. To let a false hour pass would do all that it does every few milliseconds, too. */
const tasks: (() => void)[] = [];
beforeAll(() => {
  const { setInterval } = globalThis;
  vi.spyOn(globalThis, 'setInterval').mockImplementation((task, pause, ...values) => {
    if (pause === HOUR_MS) tasks.push(task as () => void);
    return setInterval(task, pause, ...values);
  });
});
const service = sharedService(bareRecords, { fileRetentionDays: 7 });
afterAll(() => vi.restoreAllMocks());

async function filesOnDisk(): Promise<string[]> {
  const entries = await readdir(join(service.path, 'files'), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

const waiting = () => service.service.store.read.all(sql`SELECT name FROM file_removals`);

/** Waits until exactly these files are still to be removed. */
const untilWaiting = (names: readonly string[]) => expect.poll(waiting).toEqual(names.map((name) => ({ name })));

/** Lets an hour come, without the clock: whatever is done every hour is done. */
function hourly(): void {
  expect(tasks).not.toEqual([]);
  for (const task of tasks) task();
}

it('files of a deleted document are kept for seven days, and nobody gets at them', async () => {
  const [first, second] = [await posted(service), await posted(service)];
  await service.call('DELETE', `/documents/${first.id}`);
  service.clock.advance(1);
  await service.call('DELETE', `/documents/${second.id}`);
  const called = await service.call('GET', linksOf(first).original ?? '', { token: null, organization: null });
  expect(called.status).toBe(404);
  expect(await filesOnDisk()).toHaveLength(2);
  service.clock.advance(7 * DAY_MS - 1);
  hourly();
  await untilWaiting([`${second.guidName}-original`]);
  expect(await filesOnDisk()).toEqual([`${second.guidName}-original`]);
  service.clock.advance(1);
  hourly();
  await untilWaiting([]);
  expect(await filesOnDisk()).toEqual([]);
});

it('files that an import replaces or deletes are kept as long', async () => {
  const imported = (content: string) =>
    line('DocumentV1', { id: 77, name: 'imported', mimeType: 'PDF', file: { content } });
  await service.import([imported(PDF)]);
  await service.import([imported(Buffer.from('%PDF-1.4 other').toString('base64'))]);
  await service.import([line('DocumentV1', { id: 77, deleted: true })]);
  expect(await filesOnDisk()).toHaveLength(2);
  service.clock.advance(7 * DAY_MS);
  hourly();
  await untilWaiting([]);
  expect(await filesOnDisk()).toEqual([]);
});

it('however many have become due at once, all of them go', async () => {
  const rows = Array.from({ length: 1100 }, (_, at) => `('${at}-original', '${service.clock.text()}')`);
  await service.service.store.write((tx) =>
    tx.run(sql`INSERT INTO file_removals (name, due_at) VALUES ${raw(rows.join())}`),
  );
  hourly();
  await untilWaiting([]);
});
