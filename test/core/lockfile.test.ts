import { access, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { holdLock, type LockOwner, type ProcessLife } from '../../src/core/lockfile.ts';
import { need } from '../support/capabilities.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-test-'));
  path = join(folder, 'results.csv.lock');
});
afterEach(() => rm(folder, { recursive: true }));

const AT = Date.parse('2026-11-21T20:00:00.000Z');
const clock = { now: () => AT, sleep: () => new Promise<void>((done) => setImmediate(done)) };

/** A process with a number, in a world where some others live. */
function owner(pid: number, world: Record<number, ProcessLife> = {}, host = 'desk'): LockOwner {
  const lives: Record<number, ProcessLife> = { [pid]: { alive: true }, ...world };
  return { pid, host, clock, lifeOf: (other) => lives[other] ?? { alive: false } };
}

const hold = (who: LockOwner) => holdLock(path, 'results.csv', who);
const holder = async () => JSON.parse(await readFile(path, 'utf8'));

describe('a lock file', () => {
  it('says who holds it, and is gone when it is let go', async () => {
    const release = await hold(owner(7, { 7: { alive: true, started: 'boot:5' } }));
    expect(await holder()).toEqual({
      pid: 7,
      host: 'desk',
      startedAt: '2026-11-21T20:00:00.000Z',
      processStarted: 'boot:5',
      id: expect.stringMatching(/^[-0-9a-f]{36}$/),
    });
    await release();
    expect(await readdir(folder)).toEqual([]);
  });

  it("that a power cut has left without its bytes, or the last of them, is in nobody's way", async () => {
    const release = await hold(owner(7));
    const text = (await readFile(path, 'utf8')).trimEnd();
    await release();
    const parts = Array.from(text, (_, length) => text.slice(0, length)).filter(
      ({ length }) => length % 10 === 0 || length > text.length - 3,
    );
    for (const left of [...parts, ...parts.map((part) => part.padEnd(text.length, '\0'))]) {
      await writeFile(path, left);
      await (await hold(owner(7)))();
      expect(await readdir(folder)).toEqual([]);
    }
  });

  it('is refused while its process lives, another run of the same process included', async () => {
    await hold(owner(7));
    for (const pid of [7, 8]) {
      await expect(hold(owner(pid, { 7: { alive: true } }))).rejects.toMatchObject({
        exitCode: 9,
        message: `results.csv is in use by process 7 since 2026-11-21T20:00:00.000Z (${path}).`,
        hint: 'Wait until that process ends.',
      });
    }
    expect(await readdir(folder)).toEqual(['results.csv.lock']);
  });

  it.each<[string, Record<number, ProcessLife>]>([
    ['gone', {}],
    ['gone, and its number is that of a younger process', { 7: { alive: true, started: 'boot:9' } }],
  ])('is taken over from a process that is %s', async (_, world) => {
    await hold(owner(7, { 7: { alive: true, started: 'boot:5' } }));
    const release = await hold(owner(8, world));
    expect(await holder()).toMatchObject({ pid: 8 });
    expect(await readdir(folder)).toEqual(['results.csv.lock']);
    await release();
  });

  it('is taken over from a dead process that had the number of this one', async () => {
    await hold(owner(7, { 7: { alive: true, started: 'boot:5' } }));
    await hold(owner(7, { 7: { alive: true, started: 'boot:9' } }));
    expect(await holder()).toMatchObject({ pid: 7, processStarted: 'boot:9' });
  });

  it('of another machine is never taken over', async () => {
    await hold(owner(7, {}, 'other'));
    await expect(hold(owner(8))).rejects.toMatchObject({
      exitCode: 9,
      message: expect.stringContaining('by process 7 on other since'),
      hint: `Wait until that process ends; if it is gone, remove ${path}.`,
    });
  });

  it('is taken over when its writer died before it wrote', async () => {
    await writeFile(path, '');
    await hold(owner(8));
    expect(await holder()).toMatchObject({ pid: 8 });
    expect(await readdir(folder)).toEqual(['results.csv.lock']);
  });

  it('is taken over when the process that took it over died at that', async () => {
    await hold(owner(7));
    const { id } = await holder();
    await holdLock(`${path}.${id}`, 'the right to remove it', owner(6));
    await hold(owner(8));
    expect(await holder()).toMatchObject({ pid: 8 });
    expect(await readdir(folder)).toEqual(['results.csv.lock']);
  });

  it('is not let go by a run whose lock was removed by hand and made anew', async () => {
    const release = await hold(owner(7));
    await rm(path);
    await hold(owner(8));
    await release();
    expect(await holder()).toMatchObject({ pid: 8 });
  });

  it('is never another file', async () => {
    for (const other of ['my notes\n', '{"pid":1}', '{"pid":1,"a":2}\n{"pid":2', `{"pid":1,"a":"${'x'.repeat(5000)}`]) {
      await writeFile(path, other);
      await expect(hold(owner(8))).rejects.toMatchObject({ exitCode: 9, message: `${path} is not a lock of molar.` });
      expect(await readFile(path, 'utf8')).toBe(other);
    }
  });

  it('is not written through a link', async (context) => {
    need(context, 'symlinks');
    const target = join(folder, 'target');
    await symlink(target, path);
    const locking = hold(owner(8));
    await expect(locking).rejects.toMatchObject({ exitCode: 9 });
    await expect(access(target)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('fails with exit code 9 in a folder that cannot be written', async () => {
    path = join(folder, 'missing', 'lock');
    await expect(hold(owner(8))).rejects.toMatchObject({
      exitCode: 9,
      message: expect.stringContaining('Cannot write'),
    });
  });

  it('has one winner of many starters at once, whatever stood there', async () => {
    for (let round = 0; round < 12; round++) {
      if (round % 3 === 1) await hold(owner(7));
      if (round % 3 === 2) await writeFile(path, '');
      const pids = Array.from({ length: 12 }, (_, index) => 100 + index);
      const world = Object.fromEntries(pids.map((pid) => [pid, { alive: true }]));
      const ends = await Promise.allSettled(pids.map((pid) => hold(owner(pid, world))));
      const winners = ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []));
      expect(winners, String(round)).toHaveLength(1);
      expect(await readdir(folder)).toEqual(['results.csv.lock']);
      await winners[0]?.();
    }
  });
});
