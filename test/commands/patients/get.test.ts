import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import PatientsGet from '../../../src/commands/patients/get.ts';
import { jsonFailure, runCommand, type World } from '../../cli/runcommand.ts';
import { problem, Script, success } from '../../core/transport/script.ts';

const get = (argv: readonly string[], world?: World) => runCommand('patients:get', PatientsGet, argv, world);
const ann = { id: 7000000000114, lastName: 'Example', preferredLocation: { id: 5 } };

describe('patients get', () => {
  it.each([
    ['JSON in a pipe', [], undefined, `${JSON.stringify(ann, null, 2)}\n`],
    [
      'a table on a terminal',
      [],
      80,
      'id                    7000000000114\nlastName              Example\npreferredLocation.id  5\n',
    ],
    ['one line', ['--format', 'ndjson'], undefined, `${JSON.stringify(ann)}\n`],
    [
      'CSV',
      ['--csv', '--fields', 'lastName,preferredLocation'],
      undefined,
      'lastName,preferredLocation.id\nExample,5\n',
    ],
    [
      'what is selected',
      ['--json', '--fields', 'preferredLocation.id'],
      80,
      '{\n  "preferredLocation": {\n    "id": 5\n  }\n}\n',
    ],
  ])('prints %s', async (_name, flags, terminal, stdout) => {
    const world = { script: new Script(success(ann)), ...(terminal && { terminal }) };
    expect(await get(['7000000000114', ...flags], world)).toEqual({ exitCode: 0, stdout, stderr: '' });
  });

  it('shows local times on a terminal, and says which zone they are in', async () => {
    const record = { id: 5, lastModified: '2026-11-24T15:00:00.000Z' };
    const run = (...flags: string[]) => get(['5', ...flags], { script: new Script(success(record)), terminal: 80 });
    const stdout = 'id            5\nlastModified  2026-11-24 08:00\n';
    const zone = ['--timezone', 'America/Denver'];
    expect(await run(...zone)).toEqual({ exitCode: 0, stdout, stderr: 'Times in America/Denver.\n' });
    expect(await run(...zone, '--quiet')).toEqual({ exitCode: 0, stdout, stderr: '' });
    expect((await run('--json', ...zone)).stdout).toContain('"2026-11-24T15:00:00.000Z"');
    expect((await run('--timezone', 'Mars')).stderr).toContain('--timezone must be an IANA time zone');
  });

  it('asks for the record and the fields', async () => {
    const script = new Script(success(ann));
    await get(['0007000000000114', '--fields', 'lastName'], { script });
    expect(script.requests[0]?.url).toBe(
      'https://api.example.com/api/v1/patients/7000000000114?responseFields=id%2ClastName',
    );
  });

  it('leaves a file as it was, and nothing beside it, when there is no record', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'molar-get-'));
    const out = join(folder, 'patient.json');
    await writeFile(out, 'before');
    const script = new Script(problem(404, 'record.not_found', 'id', 'There is no patient 5.'));
    expect(await get(['5', '--out', out], { script })).toMatchObject({ exitCode: 4, stdout: '' });
    expect([await readdir(folder), await readFile(out, 'utf8')]).toEqual([['patient.json'], 'before']);
    await get(['5', '--out', out], { script: new Script(success(ann)) });
    expect([await readdir(folder), JSON.parse(await readFile(out, 'utf8')).id]).toEqual([['patient.json'], ann.id]);
  });

  it('fails with 4 for a record that is not there', async () => {
    const script = new Script(problem(404, 'record.not_found', 'id', 'There is no patient 5 in this organization.'));
    const ran = await get(['5', '--json'], { script });
    expect(ran).toMatchObject({ exitCode: 4, stdout: '' });
    expect(jsonFailure(ran)).toEqual({
      code: 'record.not_found',
      message: 'Not found (HTTP 404): There is no patient 5 in this organization.',
      exitCode: 4,
      status: 404,
      requestId: 'req-1',
      errors: [
        {
          code: 'record.not_found',
          title: 'Title',
          description: 'There is no patient 5 in this organization.',
          source: 'id',
        },
      ],
      hint: 'Check the id and the organization.',
    });
  });

  it.each([
    ['no id', [], 'ID is missing.'],
    ['an id that is none', ['abc'], 'ID must be a positive integer.'],
    ['0', ['0'], 'ID must be a positive integer.'],
    ['an id beyond what is exact', ['9007199254740993'], 'ID must be a positive integer.'],
    ['two ids', ['5', '6'], 'There is an argument that molar patients get does not take.'],
  ])('refuses %s', async (_name, argv, message) => {
    const ran = await get(argv);
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
    expect(ran.stderr.split('\n')[0]).toBe(`Error: ${message}`);
  });

  it('fails with 8 when the answer holds no record', async () => {
    expect(await get(['5'], { script: new Script(success([])) })).toMatchObject({ exitCode: 8, stdout: '' });
  });
});
