import { describe, expect, it } from 'vitest';
import { valuesOfFlag } from '../../../src/cli/completion/values.ts';
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
