import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lifeOf, lockOwner } from '../../../src/cli/process/lockowner.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { holdLock } from '../../../src/core/lockfile.ts';

describe('the life of a process', () => {
  it('is told apart for this one, one that ended, and on Linux by its start', async () => {
    const child = spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: ['pipe', 'ignore', 'ignore'] });
    const pid = child.pid ?? 0;
    const [mine, its] = [lifeOf(process.pid), lifeOf(pid)];
    expect([mine.alive, its.alive]).toEqual([true, true]);
    expect(mine.started).toEqual(lifeOf(process.pid).started);
    expect(mine.started).toMatch(/^[-:\w]+$/);
    if (process.platform === 'linux') {
      const ticks = readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')[19];
      expect(its.started?.endsWith(`:${ticks}`)).toBe(true);
    }
    child.stdin?.end();
    await once(child, 'exit');
    expect(lifeOf(pid)).toEqual({ alive: false });
  });

  it('keeps a lock of this process from itself', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'molar-test-'));
    const owner = lockOwner(systemClock);
    const release = await holdLock(join(folder, 'lock'), 'It', owner);
    await expect(holdLock(join(folder, 'lock'), 'It', owner)).rejects.toMatchObject({
      exitCode: 9,
      message: expect.stringContaining(`by process ${process.pid} since`),
    });
    await release();
    await rm(folder, { recursive: true });
  });
});
