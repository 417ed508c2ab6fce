import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { auditLines } from '../../../src/cli/serving/auditcommands.ts';
import ConfigSet from '../../../src/commands/config/set.ts';
import ExportFolder from '../../../src/commands/export/index.ts';
import ExportVerify from '../../../src/commands/export/verify.ts';
import PatientsGet from '../../../src/commands/patients/get.ts';
import PatientsList from '../../../src/commands/patients/list.ts';
import { Script, success } from '../../core/transport/script.ts';
import { desk, Practice } from '../exporting/practice.ts';
import { runCommand } from '../runcommand.ts';

const HOSTILE = ['tab\there', 'line\nbreak', 'C:\\new\r', '=cmd()', '"quoted", and comma'];
const FIELDS = ['--fields', 'id,lastName'];

function practice(): Practice {
  const made = new Practice();
  made.rows.patients = HOSTILE.map((lastName, at) => ({ id: at + 1, lastName }));
  return made;
}

/** Lines, cells between tabs, then the four escapes: nothing that the writer uses. */
function readTsv(text: string): string[][] {
  const meanings = { '\\t': '\t', '\\n': '\n', '\\r': '\r', '\\\\': '\\' };
  const value = (cell: string) => cell.replace(/\\[tnr\\]/g, (sign) => meanings[sign as keyof typeof meanings]);
  const lines = text.split('\n');
  expect(lines.pop()).toBe('');
  return lines.map((line) => line.split('\t').map(value));
}

const EXPECTED = [
  ['id', 'lastName'],
  ...HOSTILE.map((name, at) => [String(at + 1), name.startsWith('=') ? `'${name}` : name]),
];

describe('tsv', () => {
  it('is what the extension of --out asks for, and is verified by its receipt', async () => {
    const { at, env } = await desk();
    const argv = [...FIELDS, '--out', at('p.tsv'), '--receipt', '--page-size', '2'];
    const ran = await runCommand('patients:list', PatientsList, argv, { script: practice().script, env });
    expect([ran.exitCode, readTsv(await readFile(at('p.tsv'), 'utf8'))]).toEqual([0, EXPECTED]);
    expect(JSON.parse(await readFile(at('p.tsv.receipt.json'), 'utf8'))).toMatchObject({ format: 'tsv', rows: 5 });
    const verified = await runCommand('export:verify', ExportVerify, [at('p.tsv')], { env });
    expect(verified).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('5 rows') });
    await writeFile(at('p.tsv'), `${await readFile(at('p.tsv'), 'utf8')}6\tx\n`);
    const spoilt = await runCommand('export:verify', ExportVerify, [at('p.tsv')], { env });
    expect([spoilt.exitCode, spoilt.stderr]).toEqual([9, expect.stringContaining('it has 6 records, and 5 were')]);
  });

  it('is the default format where the configuration says so', async () => {
    const { env } = await desk();
    await runCommand('config:set', ConfigSet, ['format', 'tsv'], { env });
    const { stdout } = await runCommand('patients:list', PatientsList, FIELDS, { script: practice().script, env });
    expect(readTsv(stdout)).toEqual(EXPECTED);
  });

  it('holds one record, and no header or escaped formulas when told so', async () => {
    const script = new Script(success({ id: 4, lastName: '=cmd()\t' }));
    const argv = ['4', ...FIELDS, '--format', 'tsv', '--no-header', '--no-escape-formulas'];
    const { stdout } = await runCommand('patients:get', PatientsGet, argv, { script });
    expect(stdout).toBe('4\t=cmd()\\t\n');
  });

  it('is a format of export into a folder', async () => {
    const { at, env } = await desk();
    const argv = ['patients', '--to', at('nightly'), '--format', 'tsv', '--fields', 'patients:id,lastName'];
    const { exitCode } = await runCommand('export', ExportFolder, argv, { script: practice().script, env });
    expect([exitCode, readTsv(await readFile(at('nightly/patients.tsv'), 'utf8'))]).toEqual([0, EXPECTED]);
  });

  it('is not taken from the configuration where that names what an export cannot write', async () => {
    const { at, env } = await desk();
    await runCommand('config:set', ConfigSet, ['format', 'table'], { env });
    const argv = ['patients', '--to', at('nightly')];
    const { exitCode } = await runCommand('export', ExportFolder, argv, { script: practice().script, env });
    expect([exitCode, (await readFile(at('nightly/patients.csv'), 'utf8')).slice(0, 3)]).toEqual([0, 'id,']);
  });

  it.each([[['--format', 'tsv']], [['--out', 'p.tsv']]])('refuses --excel with %j', async (argv) => {
    const { exitCode, stderr } = await runCommand('patients:list', PatientsList, [...argv, '--excel']);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('--excel has no effect on tsv; it goes with csv.')]);
  });

  it('is a format of the audit log, its lists as words', async () => {
    async function* entries() {
      yield { id: 1, who: 'a\tb', ids: [7, 8] };
    }
    let text = '';
    for await (const piece of auditLines(entries(), 'tsv')) text += piece;
    const [titles = [], entry = []] = readTsv(text);
    expect(Object.fromEntries(titles.map((title, at) => [title, entry[at]]))).toMatchObject({
      ...{ id: '1', who: 'a\tb', ids: '7 8', at: '' },
    });
  });
});
