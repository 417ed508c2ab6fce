import { describe, expect, it } from 'vitest';
import { valuesOfFlag } from '../../../src/cli/completion/values.ts';
import AgingReport from '../../../src/commands/agingbalances/report.ts';
import ProductionReport from '../../../src/commands/locationproductionnetschedule/report.ts';
import PatientsCreate from '../../../src/commands/patients/create.ts';
import PatientsGet from '../../../src/commands/patients/get.ts';
import PatientsList from '../../../src/commands/patients/list.ts';
import OpeningsList from '../../../src/commands/scheduleopenings/list.ts';

describe('--format', () => {
  it.each([
    ['patients:get', PatientsGet, ['table', 'json', 'ndjson', 'csv', 'tsv']],
    ['patients:create', PatientsCreate, ['table', 'json', 'ndjson', 'csv', 'tsv']],
    ['patients:list', PatientsList, ['table', 'json', 'ndjson', 'csv', 'tsv', 'xlsx']],
    ['scheduleopenings:list', OpeningsList, ['table', 'json', 'ndjson', 'csv', 'tsv', 'xlsx']],
    ['agingbalances:report', AgingReport, ['table', 'json', 'ndjson', 'csv', 'tsv', 'xlsx', 'html']],
    [
      'locationproductionnetschedule:report',
      ProductionReport,
      ['table', 'json', 'ndjson', 'csv', 'tsv', 'xlsx', 'html'],
    ],
  ])('of %s shows and completes the forms that it has', (id, command, forms) => {
    const { format } = command.flags as unknown as { format: { options: string[]; helpValue: string } };
    expect(format.helpValue).toBe(forms.join('|'));
    expect(valuesOfFlag(id, { name: 'format', ...format })).toEqual({ kind: 'words', words: forms });
  });
});
