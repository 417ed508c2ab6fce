import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import readExcel from 'read-excel-file/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import AgingbalancesReport from '../../../src/commands/agingbalances/report.ts';
import ProductionReport from '../../../src/commands/locationproductionnetschedule/report.ts';
import PatientsGet from '../../../src/commands/patients/get.ts';
import PatientsList from '../../../src/commands/patients/list.ts';
import OpeningsList from '../../../src/commands/scheduleopenings/list.ts';
import { formatsFor } from '../../../src/core/output/formats.ts';
import type { Send } from '../../../src/core/transport/send.ts';
import { sharedService } from '../../support/service.ts';
import { runCommand, sendTo } from '../documents/run.ts';
import { reportRecords } from './practice.ts';

const service = sharedService(reportRecords);
const toApp = sendTo(() => service.app);
const nothing: Send = () => Promise.reject(new Error('Nothing is to be sent.'));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-documents-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function sheetOf(bytes: Buffer): Promise<unknown[][]> {
  const [sheet] = await readExcel(bytes);
  return (sheet?.data ?? []) as unknown[][];
}

describe('--format xlsx', () => {
  it('lists records in a file, which its extension asks for', async () => {
    const out = join(folder, 'patients.xlsx');
    const argv = ['--fields', 'id,lastName,lastModified', '--out', out];
    const { exitCode, stdout } = await runCommand(PatientsList, argv, { send: toApp, isTTY: true });
    expect({ exitCode, stdout: stdout.toString() }).toEqual({ exitCode: 0, stdout: '' });
    const [titles, first] = await sheetOf(await readFile(out));
    expect(titles).toEqual(['id', 'lastName', 'lastModified (UTC)']);
    expect(first).toEqual(['9', 'Older', expect.any(Date)]);
  });

  it('goes to a pipe', async () => {
    const argv = ['--location', '5', '--format', 'xlsx', '--fields', 'location,id,lastName,balance'];
    const { stdout } = await runCommand(AgingbalancesReport, argv, { send: toApp });
    expect(await sheetOf(stdout)).toEqual([
      ['location', 'id', 'lastName', 'balance'],
      ['5', '9', 'Older', 1000.3],
      ['5', '10', 'Newer', 50.05],
      ['5', '12', 'Credit', -7.77],
    ]);
  });

  it('has cents as dollars', async () => {
    const { stdout } = await runCommand(ProductionReport, ['--from', '2026-03-10', '--format', 'xlsx'], {
      send: toApp,
    });
    expect(await sheetOf(stdout)).toEqual([
      ['date (UTC)', 'scheduledAmount'],
      [new Date('2026-03-10T14:30:00Z'), 100],
      [new Date('2026-03-11T05:30:00Z'), 0.25],
    ]);
  });
});

describe('--format xlsx of sorted times', () => {
  it('has local times under the name of their zone', async () => {
    const argv = ['--from', '2026-03-10', '--timezone', 'America/Denver', '--format', 'xlsx', '--sort', '-date'];
    const { stdout } = await runCommand(ProductionReport, argv, { send: toApp });
    expect(await sheetOf(stdout)).toEqual([
      ['date (America/Denver)', 'scheduledAmount'],
      [new Date('2026-03-10T23:30:00Z'), 0.25],
      [new Date('2026-03-10T08:30:00Z'), 100],
    ]);
  });
});

describe('--format html', () => {
  it('makes a page of the aging report', async () => {
    const out = join(folder, 'aging.html');
    const { exitCode } = await runCommand(AgingbalancesReport, ['--location', '5,6', '--out', out], { send: toApp });
    expect(exitCode).toBe(0);
    const page = await readFile(out, 'utf8');
    expect(page).toMatch(/^<!DOCTYPE html>/);
    expect(page).toContain('<td class="w">Newer');
    expect(page).toContain('buckets 1,055.85 + credits -7.77 = balance 1,048.08;');
    expect(await readdir(folder)).not.toContain('aging.html.part');
  });

  it('leaves guarantors out for totals only', async () => {
    const argv = ['--location', '5', '--totals-only', '--format', 'html'];
    const { stdout } = await runCommand(AgingbalancesReport, argv, { send: toApp });
    expect(stdout.toString()).toContain('Charges by age');
    expect(stdout.toString()).not.toContain('Newer');
  });

  it('makes a page of the days of the production report', async () => {
    const argv = ['--from', '2026-03-10', '--range', '3', '--location', '5', '--format', 'html'];
    const { stdout } = await runCommand(ProductionReport, argv, { send: toApp });
    expect(stdout.toString()).toContain('<td>2026-03-12 Thu</td><td class="n">1</td><td class="n">20.25</td>');
    expect(stdout.toString()).toContain('<td>Total</td><td class="n">3</td><td class="n">120.50</td>');
  });

  it('sorts its table, not its chart, and names the zone of its time', async () => {
    const argv = ['--from', '2026-03-10', '--range', '3', '--location', '5', '--format', 'html', '--timezone'];
    const sorted = [...argv, 'America/Denver', '--sort', '-scheduledAmountCents'];
    const page = (await runCommand(ProductionReport, sorted, { send: toApp })).stdout.toString();
    expect([...page.matchAll(/<td>(2026-[^ ]*)/g)].map(([, day]) => day)).toEqual([
      '2026-03-10',
      '2026-03-12',
      '2026-03-11',
    ]);
    expect(page).toMatch(/<p>Made \d{4}-\d\d-\d\d \d\d:\d\d \(America\/Denver\)/);
  });
});

describe('formats that a command or destination does not have', () => {
  const openings = ['--location', '5', '--from', '2026-03-10', '--to', '2026-03-10'];
  it.each<[string, unknown, string[], string]>([
    ['html of a list', PatientsList, ['--format', 'html'], 'html is a format of reports only'],
    ['html of a list by extension', PatientsList, ['--out', 'a.html'], 'html is a format of reports only'],
    ['html of openings', OpeningsList, [...openings, '--format', 'html'], `has ${formatsFor('rows').join(', ')}.`],
    ['html of a record', PatientsGet, ['9', '--format', 'html'], `has ${formatsFor('record').join(', ')}.`],
    [
      'xlsx of a record',
      PatientsGet,
      ['9', '--format', 'xlsx'],
      'xlsx is a format of lists and reports, not of a single',
    ],
    ['a file of old Excel', PatientsList, ['--out', 'a/April.XLS'], 'use --out a/April.xlsx.'],
    ['it with a format', PatientsList, ['--csv', '--out', 'a.xls'], 'use --out a.xlsx.'],
    ['it for a record', PatientsGet, ['9', '--out', 'a.xls'], 'use --out a.csv.'],
    ['xlsx on a terminal', PatientsList, ['--format', 'xlsx'], 'name a file with --out FILE.xlsx'],
    [
      'html with fields',
      AgingbalancesReport,
      ['--location', '5', '--format', 'html', '--fields', 'id'],
      '--fields has no effect on the page',
    ],
    [
      'html with fields',
      ProductionReport,
      ['--from', '2026-03-10', '--format', 'html', '--fields', 'date'],
      '--fields has no effect on the page',
    ],
  ])('refuses %s', async (_name, command, argv, message) => {
    const { exitCode, stdout, stderr } = await runCommand(command, argv, { send: nothing, isTTY: true });
    expect({ exitCode, stdout: stdout.toString() }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(message);
  });
});
