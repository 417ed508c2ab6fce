import { describe, expect, it, vi } from 'vitest';
import ScheduleopeningsList from '../../../src/commands/scheduleopenings/list.ts';
import type { Send } from '../../../src/core/transport/send.ts';
import { Script, success } from '../../core/transport/script.ts';
import { sharedService } from '../../support/service.ts';
import { runCommand, sendTo } from '../documents/run.ts';
import { reportRecords } from './practice.ts';

const service = sharedService(reportRecords);
const toApp = sendTo(() => service.app);

async function list(argv: readonly string[], world: { send?: Send; isTTY?: boolean } = {}) {
  const ran = await runCommand(ScheduleopeningsList, argv, { send: toApp, ...world });
  return { ...ran, stdout: ran.stdout.toString() };
}

// An appointment takes 08:30 to 09:30 of the first Tuesday.
const TWO_WEEKS = ['--location', '5', '--from', '2026-03-09', '--to', '2026-03-22'];

describe('scheduleopenings list', () => {
  it('shows a calendar in the zone named', async () => {
    expect(await list([...TWO_WEEKS, '--timezone', 'America/Denver'], { isTTY: true })).toEqual({
      exitCode: 0,
      stdout: [
        'Times in America/Denver',
        '  time         min  provider  operatory  booking types      reasons',
        '  ───────────  ───  ────────  ─────────  ─────────────────  ───────',
        '',
        'Tue 2026-03-10: 2 openings',
        '  08:00-08:30   30  3         51         TREATMENT, RECARE  1',
        '  09:30-10:00   30  3         51         TREATMENT, RECARE  1',
        '',
        'Tue 2026-03-17: 1 opening',
        '  08:00-10:00  120  3         51         TREATMENT, RECARE  1',
        '',
      ].join('\n'),
      stderr: '',
    });
  });

  it('sorts slots, of which a table then has one a row in local times', async () => {
    const sort = ['--sort', '-minutes,-start', '--limit', '2', '--fields', 'start,provider.id,minutes'];
    expect((await list([...TWO_WEEKS, ...sort])).stdout).toBe(
      'start,provider.id,minutes\n2026-03-17T14:00:00.000Z,3,120\n2026-03-10T15:30:00.000Z,3,30\n',
    );
    expect(await list([...TWO_WEEKS, ...sort, '--format', 'table', '--timezone', 'America/Denver'])).toEqual({
      exitCode: 0,
      stdout: [
        'start             provider.id  minutes',
        '────────────────  ───────────  ───────',
        '2026-03-17 08:00  3                120',
        '2026-03-10 09:30  3                 30',
        '',
      ].join('\n'),
      stderr: 'Times in America/Denver.\n',
    });
  });

  it('says when the zone is that of this computer', async () => {
    vi.stubEnv('TZ', 'America/Denver');
    const { stdout } = await list(TWO_WEEKS, { isTTY: true });
    vi.unstubAllEnvs();
    const [first] = stdout.split('\n');
    expect(first).toBe('Times in America/Denver, the time zone of this computer; --timezone names another');
    expect(stdout).toContain('\n  08:00-08:30 ');
  });

  it('prints one row a slot in a pipe', async () => {
    const types = '"[""TREATMENT"",""RECARE""]",[1]';
    expect((await list(TWO_WEEKS)).stdout).toBe(
      [
        'day,provider.id,operatory.id,start,end,minutes,bookingTypes,reasons',
        `2026-03-10,3,51,2026-03-10T14:00:00.000Z,2026-03-10T14:30:00.000Z,30,${types}`,
        `2026-03-10,3,51,2026-03-10T15:30:00.000Z,2026-03-10T16:00:00.000Z,30,${types}`,
        `2026-03-17,3,51,2026-03-17T14:00:00.000Z,2026-03-17T16:00:00.000Z,120,${types}`,
        '',
      ].join('\n'),
    );
  });

  it('prints the records of the API as JSON', async () => {
    const records = JSON.parse((await list([...TWO_WEEKS, '--json'])).stdout);
    expect(records.map(({ day, slots }: { day: string; slots: unknown[] }) => [day, slots.length])).toEqual([
      ['2026-03-10', 2],
      ['2026-03-17', 1],
    ]);
    expect((await list([...TWO_WEEKS, '--json', '--fields', 'day,provider.id', '--limit', '1'])).stdout).toBe(
      '[\n{"day":"2026-03-10","provider":{"id":3}}\n]\n',
    );
  });

  it.each([
    ['length', ['--min-length', '60'], ['2026-03-17,120']],
    ['booking type', ['--booking-type', 'new_patient'], []],
    ['provider', ['--provider', '3', '--limit', '1'], ['2026-03-10,30']],
    [
      'reason and operatory',
      ['--reason', '1', '--operatory', '51', '--to', '2026-03-10'],
      ['2026-03-10,30', '2026-03-10,30'],
    ],
  ])('selects by %s', async (_, argv, rows) => {
    const given = argv.includes('--to') ? TWO_WEEKS.slice(0, 4) : TWO_WEEKS;
    const { stdout } = await list([...given, ...argv, '--fields', 'day,minutes']);
    expect(stdout.trimEnd().split('\n')).toEqual(['day,minutes', ...rows]);
  });

  it('shows the first 100 slots by time on a terminal', async () => {
    const at = (minute: number) => new Date(Date.UTC(2026, 2, 10, 0, minute)).toISOString();
    const slots = Array.from({ length: 101 }, (_, index) => ({ start: at(500 - index), end: at(505 - index) }));
    const { send } = new Script(success([{ provider: { id: 3 }, operatory: { id: 51 }, day: '2026-03-10', slots }]));
    const { stdout, stderr } = await list([...TWO_WEEKS, '--timezone', 'UTC'], { send, isTTY: true });
    expect(stdout.match(/^ {2}\d\d:/gm)).toHaveLength(100);
    expect(stdout).toContain('\n  06:40-06:45');
    expect(stdout).not.toContain('\n  08:20-08:25');
    expect(stderr).toBe('These are 100 of 101 openings. Add --all for every one.\n');
  });

  it('says why there may be none', async () => {
    const ran = await list(['--location', '6', '--from', '2026-03-10', '--to', '2026-03-10'], { isTTY: true });
    const stderr = 'No openings match; a location has some only where provider hours are set up.\n';
    expect(ran).toEqual({ exitCode: 0, stdout: '', stderr });
  });

  it.each([
    [['--location', '5', '--from', '2026-03-10'], '--to is required'],
    [['--location', 'ALL', '--from', '2026-03-10', '--to', '2026-03-10'], '--location must be a positive integer'],
    [[...TWO_WEEKS, '--format', 'table', '--timezone', 'Mars'], '--timezone must be an IANA time zone'],
    [[...TWO_WEEKS, '--csv', '--timezone', 'Mars'], '--timezone must be an IANA time zone'],
    [[...TWO_WEEKS, '--timezone', 'UTC', '--utc'], '--timezone and --utc contradict each other'],
    [[...TWO_WEEKS, '--sort', 'reasons'], 'reasons is a list'],
    [[...TWO_WEEKS, '--format', 'table', '--fields', 'day'], '--fields has no effect on the calendar'],
    [[...TWO_WEEKS, '--csv', '--fields', 'slots'], 'slots is not a field'],
  ])('refuses %j before any request', async (argv, message) => {
    const { exitCode, stderr } = await list(argv, { send: () => Promise.reject(new Error('Nothing is to be sent.')) });
    expect(exitCode).toBe(2);
    expect(stderr).toContain(message);
  });
});
