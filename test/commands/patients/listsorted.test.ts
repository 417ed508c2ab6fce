import { describe, expect, it } from 'vitest';
import PatientsList from '../../../src/commands/patients/list.ts';
import { runCommand, type World } from '../../cli/runcommand.ts';
import { ListScript, success } from '../../core/transport/script.ts';

const list = (argv: readonly string[], world?: World) => runCommand('patients:list', PatientsList, argv, world);

describe('patients list --sort', () => {
  const page = [
    { id: 1, lastName: 'b', firstName: 'Ann', lastModified: '2026-11-24T15:00:00Z', preferredLocation: { id: 7 } },
    { id: 2, lastName: 'A', firstName: 'Bob', lastModified: '2026-11-24T09:00:00-07:00', preferredLocation: null },
  ];
  const next = [{ id: 3, lastName: 'B', firstName: '', lastModified: null, preferredLocation: { id: 5 } }];
  const pages = () => new ListScript(success(page), success(next), success([]));

  it.each([
    [['--sort', 'lastName'], 'firstName', ['Bob', '', 'Ann']],
    [['--sort', '-lastModified', '--limit', '1'], 'id', ['2']],
    [['--sort', 'firstName,id'], 'id', ['1', '2', '3']],
    [['--sort', '-firstName', '--sort', 'id'], 'id', ['2', '1', '3']],
    [['--sort', ' -firstName , id'], 'id', ['2', '1', '3']],
    [['--sort', 'preferredLocation.id'], 'id', ['3', '1', '2']],
  ])('sorts the whole result with %j, in every format', async (sort, field, shown) => {
    const run = async (format: string) => {
      const ran = await list([...sort, '--fields', field, '--format', format], { script: pages() });
      expect(ran.exitCode).toBe(0);
      return ran.stdout;
    };
    expect(await run('csv')).toBe(`${field}\n${shown.map((value) => `${value || '""'}\n`).join('')}`);
    const values = shown.map((value) => (field === 'id' ? Number(value) : value));
    expect(JSON.parse(await run('json'))).toEqual(values.map((value) => ({ [field]: value })));
    expect(await run('ndjson')).toBe(values.map((value) => `${JSON.stringify({ [field]: value })}\n`).join(''));
    expect((await run('table')).split('\n').slice(2, -1)).toEqual(shown);
  });

  it('asks for what it sorts by, for every page, and for no limit', async () => {
    const script = pages();
    await list(['--sort', '-lastName', '--fields', 'firstName', '--limit', '1'], { script });
    expect(script.queries).toHaveLength(3);
    expect(script.queries[0]).toMatchObject({ responseFields: 'id,firstName,lastName', pageSize: '500', lastId: '0' });
  });

  it('writes whole records of json as they came', async () => {
    const { stdout } = await list(['--sort', '-id', '--format', 'ndjson'], { script: pages() });
    expect(stdout).toBe(
      [...page, ...next]
        .toReversed()
        .map((row) => `${JSON.stringify(row)}\n`)
        .join(''),
    );
  });

  it.each([
    [['--sort', 'phones'], 'phones is a list'],
    [['--sort', 'preferredLocation'], 'preferredLocation is a link; sort by preferredLocation.id'],
    [['--sort', ''], '--sort takes fields'],
    [['--sort', 'ALL'], '--sort takes fields'],
    [['--sort', 'lastName,'], '--sort takes fields'],
    [['--sort', 'id,lastNam'], 'Did you mean lastName?'],
    [['--sort', 'id', '--resume', '--out', 'x.csv'], '--sort does not go with --resume'],
    [['--sort', 'id', '--async', '--resume'], '--resume does not go with --async'],
  ])('refuses %j', async (argv, message) => {
    expect(await list(argv)).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining(message) });
  });
});
