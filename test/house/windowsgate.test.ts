import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { need } from '../support/capabilities.ts';
import { ROOT } from './tree.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'molar-windowsgate-'));
  writeFileSync(join(folder, 'runs'), '');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const CRASH = 'echo "wineserver crashed, please enable coredumps (ulimit -c unlimited) and restart."';

/** Stands in for Node under Wine once nothing serves it: neither it nor what it has started ends by itself. */
const HANG = 'tail -f "$PWD/runs" >/dev/null & tail -f "$PWD/runs" >/dev/null; wait';

/** Runs a script for sh as the gate runs its tests, for at most some minutes. `run` says how often it was started. */
async function supervise(script: string, minutes = 5) {
  const module = (name: string) => JSON.stringify(pathToFileURL(join(ROOT, 'test/windows', name)));
  const counted = JSON.stringify(`echo >>runs; attempt=$(wc -l <runs); ${script}`);
  const cwd = JSON.stringify(folder);
  const program = `
    import { endAfter, untilWineLasts } from ${module('bounds.mjs')};
    import { run } from ${module('tree.mjs')};
    endAfter(${minutes});
    const start = (output, signal) =>
      run('/bin/sh', ['-c', ${counted}], { cwd: ${cwd}, stdio: ['ignore', output, output], signal });
    process.exitCode = await untilWineLasts(start, ${JSON.stringify(join(folder, 'printed.txt'))});`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { timeout: 120_000 });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => (stdout += chunk));
  child.stderr.on('data', (chunk) => (stderr += chunk));
  const code = await new Promise((ended) => child.once('close', ended));
  return { code, stdout, stderr, attempts: readFileSync(join(folder, 'runs'), 'utf8').length };
}

/** The command lines of the processes that were started by what ran in the folder. */
function left(): string[] {
  const lines = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      } catch {
        return '';
      }
    });
  return lines.filter((line) => line.includes(folder));
}

const last = (text: string) => text.trimEnd().split('\n').at(-1);

describe('the gate for Windows', () => {
  beforeEach((context) => need(context, 'namespaces'));

  it('shows what the tests print, and ends as they do', async () => {
    expect(await supervise('echo "3 passed, 0 failed"')).toEqual({
      code: 0,
      stdout: '3 passed, 0 failed\n',
      stderr: '',
      attempts: 1,
    });
    expect(await supervise('echo "3 passed, 1 failed"; exit 1')).toMatchObject({ code: 1, stderr: '', attempts: 2 });
  });

  it('ends the tests when the server of Wine has crashed, and runs them again', async () => {
    const done = await supervise(`[ $attempt = 2 ] && echo "3 passed, 0 failed" && exit; ${CRASH}; ${HANG}`);
    expect(done).toMatchObject({ code: 0, attempts: 2 });
    expect(last(done.stdout)).toBe('3 passed, 0 failed');
    expect(done.stderr).toMatch(/Wine.*crashed.*run again/);
    await expect.poll(left).toEqual([]);
  });

  it('fails when that happens five times in a row', async () => {
    const done = await supervise(`printf wineserver; sleep 1; echo " crashed"; ${HANG}`);
    expect(done).toMatchObject({ code: 1, attempts: 5 });
    expect(last(done.stdout)).toBe('0 passed, 1 failed');
    await expect.poll(left).toEqual([]);
  });

  it('ends when its time is up, whatever hangs', async () => {
    const done = await supervise(HANG, 0.02);
    expect(done).toMatchObject({ code: 1, stdout: '0 passed, 1 failed\n' });
    expect(done.stderr).toMatch(/^Not done after 0.02 minutes: ended/);
    await expect.poll(left).toEqual([]);
  });
});
