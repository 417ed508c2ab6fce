import { describe, expect, it } from 'vitest';
import DocumentsUpdate from '../../../src/commands/documents/update.ts';
import PatientsUpdate from '../../../src/commands/patients/update.ts';
import { runCommand, type World } from '../../cli/runcommand.ts';
import { broken, Script, success } from '../../core/transport/script.ts';

const update = (argv: readonly string[], world?: World) => runCommand('patients:update', PatientsUpdate, argv, world);
const tag = (argv: readonly string[], world?: World) => runCommand('documents:update', DocumentsUpdate, argv, world);

describe('patients update', () => {
  it('sends only what is given, and asks for the fields', async () => {
    const script = new Script(success({ id: 5, preferredName: null }));
    const ran = await update(['5', '--set', 'preferredName=null', '--fields', 'preferredName', '--json'], { script });
    expect(ran.stdout).toBe('{\n  "preferredName": null\n}\n');
    expect(script.requests[0]).toMatchObject({
      method: 'PUT',
      url: 'https://api.example.com/api/v1/patients/5?responseFields=id%2CpreferredName',
      body: '{"preferredName":null}',
    });
    expect(script.requests[0]?.headers).not.toHaveProperty('idempotency-key');
  });

  it('is sent again when the answer was lost', async () => {
    const script = new Script(broken(true), success({ id: 5 }));
    expect((await update(['5', '--first-name', 'Ann'], { script })).exitCode).toBe(0);
  });

  it.each([
    ['nothing to change', ['5'], 'There is nothing to change'],
    ['clearing what is required', ['5', '--set', 'lastName=null'], 'lastName is required'],
    ['an id that is none', ['x', '--first-name', 'Ann'], 'ID must be a positive integer.'],
  ])('refuses %s', async (_name, argv, message) => {
    const ran = await update(argv);
    expect(ran).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining(message) });
  });

  it('shows the query in a dry run', async () => {
    const ran = await update(['5', '--first-name', 'Ann', '--fields', 'id', '--dry-run']);
    expect(JSON.parse(ran.stdout)).toMatchObject({
      method: 'PUT',
      url: 'https://api.example.com/api/v1/patients/5?responseFields=id',
      body: { firstName: 'Ann' },
    });
  });
});

describe('documents update', () => {
  it.each([
    [['--tags', 'X-Ray', '--tag', 'a, b'], { tags: ['X-Ray', 'a, b'] }],
    [['--tags', '[]'], { tags: [] }],
    [['--tags', '["a","b"]'], { tags: ['a', 'b'] }],
    [['--tag', '[urgent]'], { tags: ['[urgent]'] }],
    [['--name', 'Card'], { name: 'Card' }],
  ])('with %j sends %j', async (argv, body) => {
    const script = new Script(success({ id: 5 }));
    await tag(['5', ...argv], { script });
    expect(JSON.parse(String(script.requests[0]?.body))).toEqual(body);
  });

  it('has no flag for what cannot change', async () => {
    const ran = await tag(['5', '--mime-type', 'PDF']);
    expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('does not know --mime-type') });
  });
});
