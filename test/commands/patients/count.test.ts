import { describe, expect, it } from 'vitest';
import DocumentsCount from '../../../src/commands/documents/count.ts';
import PatientsCount from '../../../src/commands/patients/count.ts';
import { runCommand } from '../../cli/runcommand.ts';
import { Script, success } from '../../core/transport/script.ts';

describe('count', () => {
  it.each([
    ['patients', PatientsCount, { total: 5, totalCount: 5 }],
    ['documents', DocumentsCount, { totalCount: 5 }],
    ['under the other name', PatientsCount, { total: 5 }],
  ])('of %s prints the number', async (_name, command, data) => {
    const script = new Script(success(data), success(data));
    expect(await runCommand('count', command, [], { script })).toEqual({ exitCode: 0, stdout: '5\n', stderr: '' });
  });

  it('sends the filter', async () => {
    const script = new Script(success({ total: 0 }), success({ total: 0 }));
    await runCommand('patients:count', PatientsCount, ['--status', 'ACTIVE'], { script });
    expect(script.queries).toEqual([
      { filter: 'patientStatus==ACTIVE,lastModified>=0001-01-01T00:00:00Z' },
      { filter: 'patientStatus==ACTIVE' },
    ]);
  });

  it('prints what the API answers as JSON', async () => {
    const script = new Script(success({ total: 5, totalCount: 5 }), success({ total: 5, totalCount: 5 }));
    const ran = await runCommand('patients:count', PatientsCount, ['--json'], { script });
    expect(ran.stdout).toBe('{"total":5,"totalCount":5}\n');
  });

  it('fails without a number', async () => {
    const script = new Script(success({}));
    expect(await runCommand('patients:count', PatientsCount, [], { script })).toMatchObject({
      exitCode: 8,
      stdout: '',
    });
  });
});
