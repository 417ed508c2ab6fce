import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import readExcel from 'read-excel-file/node';
import { describe, expect, it } from 'vitest';
import AppointmentsGet from '../../../src/commands/appointments/get.ts';
import AppointmentsList from '../../../src/commands/appointments/list.ts';
import TransactionsList from '../../../src/commands/transactions/list.ts';
import { answer, ListScript, Script, success } from '../../core/transport/script.ts';
import { runCommand, type World } from '../runcommand.ts';
import { namesEnv } from './namesenv.ts';

const NAMES = `kind,id,name,timezone,order
location,5,Main Street,America/Denver,2
location,6,Harbour,Pacific/Auckland,1
location,7,Lake,,
provider,9007199254740991,Dr. Ång,,
operatory,3,"Room 1, left",,
`;

const START = '2026-11-24T15:00:00.000Z';
const at = (id: number, location: number | null, start = START) => ({
  id,
  start,
  location: location === null ? null : { id: location },
  provider: { id: 9007199254740991 },
  operatory: { id: 4 },
});
const found = (...rows: object[]) => new ListScript(success(rows), success([]));
const list = (argv: readonly string[], world: World) => runCommand('appointments:list', AppointmentsList, argv, world);

describe('lists for people', () => {
  it('show names beside ids, and times at the location of each record', async () => {
    const script = found(at(1, 5), at(2, 6), at(3, 7), at(4, null));
    const ran = await list(['--format', 'table', '--fields', 'id,start,location.id,provider.id,operatory.id'], {
      script,
      env: namesEnv(NAMES),
    });
    expect(ran.stdout.split('\n')).toEqual([
      'id  start             location.id  location.name  provider.id       provider.name  operatory.id  operatory.name',
      expect.stringContaining('──'),
      '1   2026-11-24 08:00  5            Main Street    9007199254740991  Dr. Ång        4',
      '2   2026-11-25 04:00  6            Harbour        9007199254740991  Dr. Ång        4',
      '3   2026-11-24 15:00  7            Lake           9007199254740991  Dr. Ång        4',
      '4   2026-11-25 04:00                              9007199254740991  Dr. Ång        4',
      '',
    ]);
    expect(ran.stderr).toBe(
      'Times are local to the location of each record; UTC where its zone is not known; where it has none, in Pacific/Auckland.\n',
    );
  });

  it('request the location where times depend on it, and do not show it', async () => {
    const script = found(at(1, 5));
    const ran = await list(['--format', 'table', '--fields', 'start'], { script, env: namesEnv(NAMES) });
    expect(ran.stdout).toBe('start\n────────────────\n2026-11-24 08:00\n');
    expect(script.queries[0]?.responseFields).toBe('id,type,start,location');
  });

  it('are in one zone where the command line names it', async () => {
    const argv = ['--format', 'table', '--fields', 'start', '--timezone', 'Europe/Berlin'];
    const ran = await list(argv, { script: found(at(1, 5), at(2, 6)), env: namesEnv(NAMES) });
    expect(ran.stdout).toContain('2026-11-24 16:00\n2026-11-24 16:00\n');
    expect(ran.stderr).toBe('Times in Europe/Berlin.\n');
  });

  it('are in the zone of the configuration only where the names file has none', async () => {
    const env = namesEnv(NAMES);
    writeFileSync(join(env.MOLAR_CONFIG_DIR ?? '', 'config.json'), '{"defaults":{"timezone":"Asia/Tokyo"}}');
    const argv = ['--format', 'table', '--fields', 'start', '--no-header'];
    const ran = await list(argv, { script: found(at(1, 5), at(2, 7), at(3, null)), env });
    expect(ran.stdout).toBe('2026-11-24 08:00\n2026-11-25 00:00\n2026-11-25 04:00\n');
    expect(ran.stderr).toContain('; Asia/Tokyo where its zone is not known; where it has none, in Pacific/Auckland.\n');
  });

  it('give names the room that they need', async () => {
    const argv = ['--format', 'table', '--fields', 'id,location.id', '--no-header'];
    const ran = await list(argv, { script: found(at(1, 5)), env: namesEnv(NAMES), terminal: 24 });
    expect(ran.stdout).toContain('  Main Street\n');
  });

  it('are so in a workbook', async () => {
    const argv = ['--fields', 'id,start,location.id', '--format', 'xlsx'];
    const chunks: Uint8Array[] = [];
    const write = async (chunk: string | Uint8Array) => void chunks.push(Buffer.from(chunk));
    await list(argv, { script: found(at(1, 5), at(2, 6)), env: namesEnv(NAMES), write });
    const [sheet] = await readExcel(Buffer.concat(chunks));
    expect(sheet?.data).toEqual([
      ['id', 'start (local time)', 'location.id', 'location.name'],
      ['1', new Date('2026-11-24T08:00:00Z'), '5', 'Main Street'],
      ['2', new Date('2026-11-25T04:00:00Z'), '6', 'Harbour'],
    ]);
  });

  it('never truncate an id for a name', async () => {
    const argv = ['--format', 'table', '--fields', 'provider.id,location.id,id'];
    const long = NAMES.replace('Dr. Ång', 'Doctor Ångström of the longest name in the practice');
    const ran = await list(argv, { script: found(at(7000000000114, 5)), env: namesEnv(long), terminal: 60 });
    expect(ran.stdout).toContain('9007199254740991  Doctor');
    expect(ran.stdout).toContain('…');
    expect(ran.stdout).not.toContain('longest name in the practice');
  });

  it('are as ever without names', async () => {
    const script = found(at(1, 5));
    const argv = ['--format', 'table', '--fields', 'start,location.id'];
    const ran = await list(argv, { script, env: namesEnv('kind,id,name\nlocation,5,\n') });
    expect(ran.stdout).toBe('start             location.id\n────────────────  ───────────\n2026-11-24 15:00  5\n');
    expect(script.queries[0]?.responseFields).toBe('id,type,start,location');
  });

  it('show one record with names too', async () => {
    const script = new Script(answer(200, { data: at(1, 5), warnings: [], errors: [] }));
    const ran = await runCommand('appointments:get', AppointmentsGet, ['1', '--format', 'table'], {
      script,
      env: namesEnv(NAMES),
    });
    expect(ran.stdout).toContain('location.id     5\nlocation.name   Main Street\n');
    expect(ran.stdout).toContain('start           2026-11-24 08:00\n');
    expect(ran.stderr).toBe('Times in America/Denver.\n');
  });
});

describe('--local-times', () => {
  it('adds a column right after each instant, with the offset of the location', async () => {
    const script = found(at(1, 5), at(2, 6), { ...at(3, 7), start: null });
    const ran = await list(['--local-times', '--csv', '--fields', 'start,id'], { script, env: namesEnv(NAMES) });
    expect(ran).toEqual({
      exitCode: 0,
      stdout: [
        'start,startLocal,id',
        `${START},2026-11-24T08:00:00-07:00,1`,
        `${START},2026-11-25T04:00:00+13:00,2`,
        ',,3',
        '',
      ].join('\n'),
      stderr: '',
    });
    expect(script.queries[0]?.responseFields).toBe('id,type,start,location');
  });

  it('tells the two hours of a change apart', async () => {
    const script = found(at(1, 5, '2026-11-01T07:30:00.000Z'), at(2, 5, '2026-11-01T08:30:00.000Z'));
    const ran = await list(['--local-times', '--csv', '--no-header', '--fields', 'start'], {
      script,
      env: namesEnv(NAMES),
    });
    expect(ran.stdout.split('\n').map((line) => line.split(',')[1])).toEqual([
      '2026-11-01T01:30:00-06:00',
      '2026-11-01T01:30:00-07:00',
      undefined,
    ]);
  });

  it('adds a member to JSON, and null where there is no instant', async () => {
    const row = { id: 1, entryDate: START, amount: 5, lastModified: null, location: { id: 5 }, new: START };
    const run = (argv: readonly string[]) =>
      runCommand('transactions:list', TransactionsList, argv, { script: found(row), env: namesEnv(NAMES) });
    const whole = await run(['--local-times', '--format', 'ndjson']);
    expect(Object.entries(JSON.parse(whole.stdout))).toEqual([
      ['id', 1],
      ['entryDate', START],
      ['entryDateLocal', '2026-11-24T08:00:00-07:00'],
      ['amount', 5],
      ['lastModified', null],
      ['lastModifiedLocal', null],
      ['location', { id: 5 }],
      ['new', START],
    ]);
    const chosen = await run(['--local-times', '--json', '--fields', 'amount,entryDate']);
    expect(chosen.stdout).toBe(
      `[\n{"amount":5,"entryDate":"${START}","entryDateLocal":"2026-11-24T08:00:00-07:00"}\n]\n`,
    );
  });
});
