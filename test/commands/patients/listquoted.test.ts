import { describe, expect, it } from 'vitest';
import PatientsList from '../../../src/commands/patients/list.ts';
import { runCommand, type World } from '../../cli/runcommand.ts';
import { ListScript, success } from '../../core/transport/script.ts';

const run = (argv: readonly string[], world: World) => runCommand('patients:list', PatientsList, argv, world);

describe('patients list', () => {
  it('warns of a value that only quotes can hold, and sends them', async () => {
    const script = new ListScript(success([]));
    const ran = await run(['--last-name', 'O, Brien', '--fields', 'id', '--csv'], { script });
    expect(script.queries[0]?.filter).toBe(`lastName~="O, Brien",lastModified>=0001-01-01T00:00:00Z`);
    expect(ran).toMatchObject({
      exitCode: 0,
      stderr:
        'Warning: a value of lastName~= can only be sent in double quotes, which the API specifies for lists alone; the result may be wrong where the service takes them for part of the value.\n',
    });
    const quiet = await run(['--last-name', 'O, Brien', '--quiet'], { script: new ListScript(success([])) });
    expect(quiet.stderr).toBe('');
  });

  it('sends a list where the key takes one, and has nothing to warn of', async () => {
    const script = new ListScript(success([]));
    const ran = await run(['--phone', '555, 0100', '--fields', 'id', '--csv'], { script });
    expect(script.queries[0]?.filter).toBe('phones.number->["555, 0100"],lastModified>=0001-01-01T00:00:00Z');
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
  });
});
