import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import Doctor from '../../src/commands/doctor.ts';
import DocumentsDelete from '../../src/commands/documents/delete.ts';
import DocumentsUpload from '../../src/commands/documents/upload.ts';
import PatientsGet from '../../src/commands/patients/get.ts';
import PatientsList from '../../src/commands/patients/list.ts';
import Whoami from '../../src/commands/whoami.ts';
import { localFailure } from '../../src/core/failure.ts';
import { answer, ListScript, Script, success } from '../core/transport/script.ts';
import { HARMFUL, POISON } from './poison.ts';
import { runCommand, type World } from './runcommand.ts';

const ERROR = { code: POISON, title: POISON, description: POISON, source: POISON };
const REFUSED = { data: null, warnings: [], errors: [ERROR, { ...ERROR, message: POISON }, POISON] };
const HEADERS = { 'x-request-id': POISON, location: `https://evil.example/${POISON}`, 'retry-after': POISON };

const COMMANDS: readonly (readonly [string, string, unknown, readonly string[]])[] = [
  ['a list', 'patients:list', PatientsList, []],
  ['a record', 'patients:get', PatientsGet, ['5']],
  ['whoami', 'whoami', Whoami, []],
  ['doctor', 'doctor', Doctor, []],
];

describe.each([301, 400, 401, 403, 404, 405, 409, 413, 415, 429, 500, 503, 599])('a refusal with HTTP %i', (status) => {
  it.each(COMMANDS)('of %s shows nothing harmful on a terminal', async (_name, id, command, argv) => {
    for (const more of [[], ['--json'], ['--verbose']]) {
      const script = new Script(...Array.from({ length: 12 }, () => answer(status, REFUSED, HEADERS)));
      const flags = id === 'doctor' ? more.filter((flag) => flag === '--json') : more;
      const { stdout, stderr } = await runCommand(id, command, [...argv, ...flags], { script, terminal: 100 });
      expect(stdout + stderr).not.toMatch(HARMFUL);
    }
  });
});

it('a refusal is told a program exactly', async () => {
  const script = new ListScript(answer(400, { data: null, warnings: [], errors: [ERROR] }));
  const { stderr } = await runCommand('patients:list', PatientsList, ['--json'], { script, terminal: 100 });
  expect(stderr).not.toMatch(HARMFUL);
  expect(JSON.parse(stderr)).toMatchObject({ error: { errors: [ERROR] } });
});

describe('a question', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'molar-words-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('names what is to be deleted without its escape codes', async () => {
    const asked: string[] = [];
    const confirm: NonNullable<World['confirm']> = async (question) => {
      asked.push(question);
      return false;
    };
    const named = (id: number) => success({ id, name: `${POISON}.pdf` });
    for (const [ids, count] of [
      [['5'], 1],
      [['5', '6'], 2],
    ] as const) {
      const script = new Script(...ids.map((id) => named(Number(id))));
      const ran = await runCommand('documents:delete', DocumentsDelete, ids, { script, confirm, terminal: 100 });
      expect([ran.exitCode, asked.length, ran.stderr]).toEqual([130, count, expect.not.stringMatching(HARMFUL)]);
    }
    expect(asked.join()).toContain('exe.fdp');
    expect(asked.join()).not.toMatch(HARMFUL);
  });

  it.each(['missing', 'empty', 'no document'])(
    'and a message about a file of a hostile name that is %s',
    async (state) => {
      const file = join(folder, `${state} \u001b[31m\u202e\nnext\u009b.pdf`);
      if (state === 'empty') await writeFile(file, '');
      if (state === 'no document') await writeFile(file, 'MZ');
      for (const more of [[], ['--json'], ['--check']]) {
        const argv = [file, '--results', join(folder, `r${more.join()}.csv`), ...more];
        const ran = await runCommand('documents:upload', DocumentsUpload, argv, {
          script: new Script(),
          terminal: 100,
        });
        expect(ran.exitCode).toBeGreaterThan(0);
        expect(ran.stdout + ran.stderr).not.toMatch(HARMFUL);
      }
    },
  );
});

it('the stack of a defect shows nothing harmful', async () => {
  const script = new Script(() => {
    throw new Error(POISON, { cause: localFailure('run.unexpected', POISON) });
  });
  const ran = await runCommand('patients:list', PatientsList, ['--verbose'], { script, terminal: 100 });
  expect(ran.exitCode).toBe(1);
  expect(ran.stderr).toContain('    at ');
  expect(ran.stderr).not.toMatch(HARMFUL);
});

it('a message of megabytes is cut for people, and whole for a program', async () => {
  const long = 'long '.repeat(400_000);
  const refusal = () =>
    answer(400, { data: null, warnings: [{ title: long, description: long }], errors: [{ description: long }] });
  const told = await runCommand('patients:list', PatientsList, [], {
    script: new ListScript(refusal(), refusal()),
    terminal: 100,
  });
  expect([told.exitCode, told.stderr.length < 10_000]).toEqual([5, true]);
  const exact = await runCommand('patients:list', PatientsList, ['--json'], {
    script: new ListScript(refusal(), refusal()),
  });
  expect(JSON.parse(exact.stderr).error.errors[0].description).toBe(long);
});
