import { describe, expect, it } from 'vitest';
import { valuesOfFlag } from '../../../src/cli/completion/values.ts';
import { readDestination } from '../../../src/cli/flags/output.ts';
import type { FlagValues } from '../../../src/cli/flags/values.ts';
import AgingReport from '../../../src/commands/agingbalances/report.ts';
import ProductionReport from '../../../src/commands/locationproductionnetschedule/report.ts';
import PatientsCreate from '../../../src/commands/patients/create.ts';
import PatientsGet from '../../../src/commands/patients/get.ts';
import PatientsList from '../../../src/commands/patients/list.ts';
import OpeningsList from '../../../src/commands/scheduleopenings/list.ts';
import { formatsFor, type OutputKind } from '../../../src/core/output/formats.ts';

describe('--format', () => {
  it.each<[string, { flags: object }, OutputKind]>([
    ['patients:get', PatientsGet, 'record'],
    ['patients:create', PatientsCreate, 'record'],
    ['patients:list', PatientsList, 'rows'],
    ['scheduleopenings:list', OpeningsList, 'rows'],
    ['agingbalances:report', AgingReport, 'report'],
    ['locationproductionnetschedule:report', ProductionReport, 'report'],
  ])('of %s shows and completes the formats that it has', (id, command, kind) => {
    const formats = formatsFor(kind);
    const { format } = command.flags as unknown as { format: { options: string[]; helpValue: string } };
    expect(format.helpValue).toBe(formats.join('|'));
    expect(valuesOfFlag(id, { name: 'format', ...format })).toEqual({ kind: 'words', words: formats });
  });
});

describe('the format of an output', () => {
  it.each<[FlagValues, boolean, string]>([
    [{}, false, 'csv'],
    [{}, true, 'table'],
    [{ out: 'a.json' }, true, 'json'],
    [{ out: 'A.XLSX' }, false, 'xlsx'],
    [{ out: 'a.dat' }, true, 'csv'],
    [{ out: 'a.json', format: 'ndjson' }, false, 'ndjson'],
    [{ out: 'a.json', csv: true }, false, 'csv'],
    [{ json: true }, true, 'json'],
    [{ format: 'json', json: true }, false, 'json'],
    [{ excel: true }, true, 'csv'],
    [{ excel: true, out: 'a.dat' }, true, 'csv'],
  ])('of %j, on a terminal %s, is %s', (flags, isTTY, format) => {
    const { out } = flags;
    expect(readDestination(flags, isTTY, 'csv', 'rows')).toEqual({
      format,
      out,
      toTerminal: isTTY && out === undefined,
    });
  });

  it.each<[FlagValues, string, string]>([
    [{ out: '' }, '--out', '--out must name a file.'],
    [{ out: 'a.xls' }, '--out', 'use --out a.xlsx.'],
    [{ json: true, csv: true }, '--csv', '--json and --csv name different formats'],
    [{ format: 'csv', json: true }, '--json', '--format and --json name different formats'],
    [{ excel: true, json: true }, '--excel', '--excel has no effect on json'],
    [{ excel: true, out: 'a.json' }, '--excel', '--excel has no effect on json'],
    [{ format: 'xlsx' }, '--format', 'name a file with --out FILE.xlsx.'],
    [{ format: 'html' }, '--format', 'html is a format of'],
    [{ out: 'a.html' }, '--format', 'html is a format of'],
  ])('is refused for %j', (flags, source, message) => {
    const failure = { exitCode: 2, message: expect.stringContaining(message) };
    expect(() => readDestination(flags, true, 'csv', 'rows')).toThrow(expect.objectContaining(failure));
    const items = [expect.objectContaining({ source })];
    expect(() => readDestination(flags, true, 'csv', 'rows')).toThrow(expect.objectContaining({ items }));
  });
});
