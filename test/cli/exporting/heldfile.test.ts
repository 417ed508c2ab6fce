import { rename, stat, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import PatientsList from '../../../src/commands/patients/list.ts';
import { localFailure } from '../../../src/core/failure.ts';
import { onWindows, systemError } from '../../support/othersystem.ts';
import { jsonFailure, runCommand } from '../runcommand.ts';
import { BOTH, nightly } from './nightly.ts';
import { desk, Practice } from './practice.ts';

/** A spreadsheet that has a file open: Windows gives its name to no other file until it is closed. */
function spreadsheet(name: string, onTry = () => undefined as unknown) {
  const held = { isOpen: true };
  onWindows({
    rename: async (from, to) => {
      if (held.isOpen && String(to).endsWith(`/${name}`)) {
        onTry();
        throw systemError('EBUSY');
      }
      return rename(from, to);
    },
  });
  return held;
}

it('a file that stays open fails alone: the rest is done, nothing is lost, and a rerun finishes', async () => {
  const { run, folder, read, names, summary, practice } = await nightly();
  expect((await run(BOTH)).exitCode).toBe(0);
  await writeFile(`${folder}/patients.csv`, 'yesterday');
  const held = spreadsheet('patients.csv');
  const line = [...BOTH, '--page-size', '1'];
  const ran = await run(line);
  expect(ran.exitCode).toBe(6);
  expect(ran.stderr).toContain('Waiting for patients.csv: close the program that has it open.\n');
  expect(ran.stderr).toMatch(/Exported 1 of 2 files to .*\nError: 1 of 2 files were not exported\./);
  expect(ran.stderr).toContain('another program has it open');
  expect(await summary()).toMatchObject({
    ...{ complete: false, exitCode: 6 },
    files: [
      { status: 'failed', error: { code: 'local.in_use', exitCode: 9 }, resumable: { rows: 3 } },
      { status: 'complete', rows: 2 },
    ],
  });
  expect(await read('patients.csv')).toBe('yesterday');
  expect(await read('patients.csv.part')).toBe('id\n1\n2\n3\n');
  expect(await read('transactions.csv')).toBe('id\n7\n8\n');

  held.isOpen = false;
  const asked = practice.count('transactions');
  expect((await run([...line, '--resume'])).exitCode).toBe(0);
  expect(await read('patients.csv')).toBe('id\n1\n2\n3\n');
  expect(practice.count('transactions')).toBe(asked);
  expect((await names()).filter((name) => name.includes('.part'))).toEqual([]);
});

it('when nothing but open files is left the code is that of a local file, and JSON tells what to close', async () => {
  const { run } = await nightly();
  spreadsheet('patients.csv');
  const failure = jsonFailure(await run(['patients', '--fields', 'patients:id', '--json']));
  expect(failure).toMatchObject({ exitCode: 9 });
  expect(JSON.stringify(failure)).toContain('Close the program that has patients.csv open');
});

it('a file that is closed in time is replaced', async () => {
  const { run, read } = await nightly();
  let tries = 0;
  const held = spreadsheet('patients.csv', () => {
    if (++tries === 20) held.isOpen = false;
  });
  const ran = await run(BOTH);
  expect(ran.exitCode).toBe(0);
  expect(await read('patients.csv')).toBe('id\n1\n2\n3\n');
});

it('Ctrl-C ends the waiting with its own code; part and journal stay', async () => {
  const { run, names } = await nightly();
  const interrupts = new AbortController();
  spreadsheet('patients.csv', () => interrupts.abort(localFailure('run.interrupted', 'Interrupted.')));
  const ran = await run([...BOTH, '--page-size', '1'], { signal: interrupts.signal });
  expect(ran.exitCode).toBe(130);
  expect(await names()).toEqual(expect.arrayContaining(['patients.csv.part', 'patients.csv.part.json']));
  expect((await names()).filter((name) => name.endsWith('.lock'))).toEqual([]);
});

it('a list into an open file leaves it as it was, and says what to close', async () => {
  const practice = new Practice();
  practice.rows.patients = [{ id: 1, lastModified: '2026-01-01T00:00:00.000Z' }];
  const { env, at } = await desk();
  await writeFile(at('p.json'), 'yesterday');
  spreadsheet('p.json');
  const argv = ['--fields', 'id', '--out', at('p.json'), '--format', 'json'];
  const ran = await runCommand('patients:list', PatientsList, argv, { script: practice.script, env });
  expect(ran.exitCode).toBe(9);
  expect(ran.stderr).toContain('Close the program that has p.json open');
  expect((await stat(at('p.json'))).size).toBe('yesterday'.length);
});
