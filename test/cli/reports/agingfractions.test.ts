import { describe, expect, it } from 'vitest';
import AgingReport from '../../../src/commands/agingbalances/report.ts';
import { Script, success } from '../../core/transport/script.ts';
import { runCommand } from '../runcommand.ts';

const answered = (record: object) =>
  success({ patientReports: [{ id: '7', ...record }] }, { meta: { pagination: { limit: '9', total: '9' } } });

const report = (record: object, ...argv: readonly string[]) =>
  runCommand('agingbalances:report', AgingReport, ['--location', '5', ...argv], {
    script: new Script(answered(record)),
  });

describe('an aging report with fractions of a cent', () => {
  const record = { current: '12.345', unAppliedCredits: -0.001, balance: 12.344, claimsPending: '2' };

  it('is written in cents, and what was rounded is said', async () => {
    expect(await report(record, '--fields', 'id,current,unAppliedCredits,balance,claimsPending')).toEqual({
      exitCode: 0,
      stdout: 'id,current,unAppliedCredits,balance,claimsPending\n7,12.35,0,12.34,2\n',
      stderr: '3 amounts have fractions of a cent. Sums are exact, and shown rounded to cents.\n',
    });
    expect((await report(record, '--csv', '--quiet')).stderr).toBe('');
  });

  it('is refused where it is wrong by more than that', async () => {
    expect(await report({ ...record, balance: 12.4 }, '--csv')).toMatchObject({ exitCode: 8, stdout: '' });
  });
});
