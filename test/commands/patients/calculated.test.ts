import { describe, expect, it } from 'vitest';
import PatientsCalculated from '../../../src/commands/patients/calculated.ts';
import { runCommand, type World } from '../../cli/runcommand.ts';
import { Script, success } from '../../core/transport/script.ts';

const run = (argv: readonly string[], world?: World) =>
  runCommand('patients:calculated', PatientsCalculated, argv, world);
const rows = [
  { id: 1, lastVisitDate: '2026-01-05' },
  { id: 2, lastVisitDate: null },
];

describe('patients calculated', () => {
  it('prints a row for each patient', async () => {
    const script = new Script(success(rows));
    expect(await run(['--patient', '1,2'], { script })).toEqual({
      exitCode: 0,
      stdout: 'id,lastVisitDate\n1,2026-01-05\n2,\n',
      stderr: '',
    });
    expect(script.queries).toEqual([{ filter: 'patient.id->[1,2]', responseFields: 'lastVisitDate' }]);
  });

  it('shows every row on a terminal', async () => {
    const all = Array.from({ length: 120 }, (_, at) => ({ id: at + 1, lastVisitDate: null }));
    const ran = await run(['--patient', '1', '--no-header'], { script: new Script(success(all)), terminal: 80 });
    expect(ran.stdout.trim().split('\n')).toHaveLength(120);
    expect(ran.stderr).toBe('');
  });

  it('needs patients', async () => {
    expect(await run([])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--patient is required') });
  });
});
