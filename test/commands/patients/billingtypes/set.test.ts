import { describe, expect, it } from 'vitest';
import PatientsBillingtypesList from '../../../../src/commands/patients/billingtypes/list.ts';
import PatientsBillingtypesSet from '../../../../src/commands/patients/billingtypes/set.ts';
import { runCommand, type World } from '../../../cli/runcommand.ts';
import { broken, Script, success } from '../../../core/transport/script.ts';

const set = (argv: readonly string[], world?: World) =>
  runCommand('patients:billingtypes:set', PatientsBillingtypesSet, argv, world);
const types = [{ id: 5, type: 'BillingTypeV1', name: 'Standard' }];

describe('patients billingtypes list', () => {
  it('lists them', async () => {
    const script = new Script(success(types));
    const ran = await runCommand('patients:billingtypes:list', PatientsBillingtypesList, ['7'], { script });
    expect(ran.stdout).toBe('id,type,name\n5,BillingTypeV1,Standard\n');
    expect(script.requests[0]?.url).toBe('https://api.example.com/api/v1/patients/7/billingtypes');
  });
});

describe('patients billingtypes set', () => {
  it.each([
    ['one', ['--billing-type', '5'], '[{"id":5}]'],
    ['several', ['--billing-type', '5,6', '--billing-type', '7'], '[{"id":5},{"id":6},{"id":7}]'],
    ['none', ['--none'], '[]'],
  ])('replaces the list by %s', async (_name, argv, body) => {
    const script = new Script(success(types));
    const ran = await set(['7', ...argv], { script });
    expect(ran.stdout).toBe('id,type,name\n5,BillingTypeV1,Standard\n');
    expect(script.requests[0]).toMatchObject({ method: 'POST', body });
  });

  it('is sent again when the answer was lost', async () => {
    const script = new Script(broken(true), success(types));
    expect((await set(['7', '--billing-type', '5'], { script })).exitCode).toBe(0);
  });

  it('shows what it would send', async () => {
    const ran = await set(['7', '--billing-type', '5', '--dry-run']);
    expect(JSON.parse(ran.stdout)).toMatchObject({ method: 'POST', body: [{ id: 5 }] });
  });

  it.each([
    ['neither', []],
    ['both', ['--billing-type', '5', '--none']],
    ['what is no id', ['--billing-type', 'x']],
  ])('refuses %s', async (_name, argv) => {
    expect(await set(['7', ...argv])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--billing-type') });
  });
});
