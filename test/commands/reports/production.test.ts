import { describe, expect, it } from 'vitest';
import LocationproductionnetscheduleReport from '../../../src/commands/locationproductionnetschedule/report.ts';
import type { Send } from '../../../src/core/transport/send.ts';
import { problem, Script, success } from '../../core/transport/script.ts';
import { sharedService } from '../../support/service.ts';
import { runCommand, sendTo } from '../documents/run.ts';
import { reportRecords } from './practice.ts';

const service = sharedService(reportRecords);
const toApp = sendTo(() => service.app);

async function report(argv: readonly string[], world: { send?: Send; isTTY?: boolean } = {}) {
  const ran = await runCommand(LocationproductionnetscheduleReport, argv, { send: toApp, ...world });
  return { ...ran, stdout: ran.stdout.toString() };
}

const WEEK = ['--from', '2026-03-10', '--range', '3'];

describe('locationproductionnetschedule report', () => {
  it('shows days in dollars, each as long as it is at the location', async () => {
    expect(await report([...WEEK, '--format', 'table', '--location', '5'])).toEqual({
      exitCode: 0,
      stdout: [
        'day             appointments  scheduled (USD)',
        '──────────────  ────────────  ───────────────',
        '2026-03-10 Tue             2           100.25',
        '2026-03-11 Wed             0             0.00',
        '2026-03-12 Thu             1            20.25',
        'Total                      3           120.50',
        '',
      ].join('\n'),
      stderr: '',
    });
  });

  it('counts days in the zone given', async () => {
    const { stdout } = await report([...WEEK, '--timezone', 'UTC'], { isTTY: true });
    expect(stdout.match(/^2026.*$/gm)).toEqual([
      `2026-03-10 Tue             1           100.00  ${'█'.repeat(40)}`,
      '2026-03-11 Wed             1             0.25  █',
      `2026-03-12 Thu             1            20.25  ${'█'.repeat(8)}`,
    ]);
  });

  it.each([
    [
      'csv, cents named so',
      ['--csv'],
      'date,scheduledAmountCents\n2026-03-10T14:30:00.000Z,10000\n2026-03-11T05:30:00.000Z,25\n',
    ],
    ['chosen columns', ['--csv', '--fields', 'scheduledAmount'], 'scheduledAmountCents\n10000\n25\n'],
    [
      'json as the API gives it',
      ['--json'],
      '[\n{"date":"2026-03-10T14:30:00.000Z","scheduledAmount":10000},\n{"date":"2026-03-11T05:30:00.000Z","scheduledAmount":25}\n]\n',
    ],
    [
      'ndjson',
      ['--format', 'ndjson', '--fields', 'scheduledAmount'],
      '{"scheduledAmount":10000}\n{"scheduledAmount":25}\n',
    ],
  ])('prints %s', async (_, argv, stdout) => {
    expect(await report(['--from', '2026-03-10', ...argv])).toEqual({ exitCode: 0, stdout, stderr: '' });
  });

  it('sorts items by fields that need not be shown, and days by their sums', async () => {
    const items = await report(['--from', '2026-03-10', '--csv', '--fields', 'date', '--sort', 'scheduledAmountCents']);
    expect(items.stdout).toBe('date\n2026-03-11T05:30:00.000Z\n2026-03-10T14:30:00.000Z\n');
    const days = await report([...WEEK, '--format', 'table', '--location', '5', '--sort', 'scheduledAmount']);
    expect(days.stdout.match(/^2026-\d\d-\d\d/gm)).toEqual(['2026-03-11', '2026-03-12', '2026-03-10']);
  });

  it.each([
    [['--from', '2026-04-01'], 'No appointment is scheduled on 2026-04-01, with these filters.'],
    [
      ['--from', '2026-04-01', '--range', '2'],
      'No appointment is scheduled in the 2 days from 2026-04-01, with these filters.',
    ],
    [[...WEEK, '--patient', '10', '--format', 'table'], 'No appointment is scheduled in the 3 days from 2026-03-10'],
  ])('ends with 4 when nothing is scheduled: %j', async (argv, message) => {
    const { exitCode, stdout, stderr } = await report(argv);
    expect({ exitCode, stdout }).toEqual({ exitCode: 4, stdout: '' });
    expect(stderr).toContain(message);
  });

  it('shows a day of appointments that bring in nothing', async () => {
    const { send } = new Script(success([{ date: '2026-03-10T14:30:00.000Z', scheduledAmount: 0 }]));
    const { exitCode, stdout } = await report(['--from', '2026-03-10'], { send, isTTY: true });
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^2026-03-10 Tue +1 +0\.00 *$/m);
  });

  it('does not take a wrong address for an empty schedule', async () => {
    const { send } = new Script(problem(404, 'route.unknown', null, 'There is no such route.'));
    expect((await report(['--from', '2026-03-10'], { send })).stderr).toContain('There is no such route.');
  });

  it('refuses an amount that is no whole number of cents', async () => {
    const { send } = new Script(success([{ date: '2026-03-10T14:30:00.000Z', scheduledAmount: 1.5 }]));
    const { exitCode, stderr } = await report(['--from', '2026-03-10'], { send, isTTY: true });
    expect(exitCode).toBe(8);
    expect(stderr).toContain('no whole number of cents');
  });

  it.each([
    [[], '--from is required'],
    [['--from', '10.3.2026'], '--from must be a date that exists'],
    [[...WEEK, '--format', 'table', '--fields', 'date'], '--fields has no effect on the table of days'],
    [[...WEEK, '--format', 'table', '--filter', 'range==4'], 'names range more than once'],
  ])('refuses %j before any request', async (argv, message) => {
    const { exitCode, stderr } = await report(argv, {
      send: () => Promise.reject(new Error('Nothing is to be sent.')),
    });
    expect(exitCode).toBe(2);
    expect(stderr).toContain(message);
  });
});
