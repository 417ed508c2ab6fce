import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import AgingbalancesReport from '../../../src/commands/agingbalances/report.ts';
import type { Send } from '../../../src/core/transport/send.ts';
import { Script, success } from '../../core/transport/script.ts';
import { sharedService } from '../../support/service.ts';
import { runCommand, sendTo } from '../documents/run.ts';
import { reportRecords } from './practice.ts';

const service = sharedService(reportRecords);
const toApp = sendTo(() => service.app);
// Two transactions a page, so that every report is put together from several.
beforeAll(() => void Object.assign(service.service, { agingPageLimit: 2 }));

async function report(
  argv: readonly string[],
  world: { send?: Send; isTTY?: boolean; env?: Readonly<Record<string, string>> } = {},
) {
  const ran = await runCommand(AgingbalancesReport, argv, { send: toApp, ...world });
  return { ...ran, stdout: ran.stdout.toString() };
}

const SHORT = ['--fields', 'location,id,lastName,current,thirtyDays,sixtyDays,ninetyDays,unAppliedCredits,balance'];
const HEADER = 'location,id,lastName,current,thirtyDays,sixtyDays,ninetyDays,unAppliedCredits,balance\n';

describe('agingbalances report in a pipe', () => {
  it('prints one row for each location and guarantor', async () => {
    expect(await report(['--location', '5', '--location', '6', ...SHORT])).toEqual({
      exitCode: 0,
      stdout: `${HEADER}5,9,Older,0,0.2,0,1000.1,0,1000.3\n5,10,Newer,30.05,0,20,0,0,50.05\n5,12,Credit,0,0,0,0,-7.77,-7.77\n6,10,Newer,5.5,0,0,0,0,5.5\n`,
      stderr: '',
    });
  });

  it('takes ALL as one location, whose guarantors are whole', async () => {
    const { stdout } = await report(['--location', 'all', ...SHORT]);
    expect(stdout).toBe(
      `${HEADER}ALL,9,Older,0,0.2,0,1000.1,0,1000.3\nALL,10,Newer,35.55,0,20,0,0,55.55\nALL,12,Credit,0,0,0,0,-7.77,-7.77\n`,
    );
  });

  it.each([
    ['locations and ALL', ['5,6'], '5,3,1050.35,-7.77,1042.58\n6,1,5.5,0,5.5\nALL,3,1055.85,-7.77,1048.08\n'],
    ['one location and ALL', ['6'], '6,1,5.5,0,5.5\nALL,1,5.5,0,5.5\n'],
    ['ALL alone', ['*'], 'ALL,3,1055.85,-7.77,1048.08\n'],
  ])('prints totals only: %s', async (_, locations, rows) => {
    const fields = 'location,guarantors,total,unappliedCreditsAmount,balance';
    const { stdout } = await report(['--location', ...locations, '--totals-only', '--fields', fields]);
    expect(stdout).toBe(`${fields}\n${rows}`);
  });

  it('prints one JSON object', async () => {
    const { stdout } = await report(['--location', '5,6', '--json']);
    const { records, locations, totals, check } = JSON.parse(stdout);
    expect(records.map(({ location, id, balance }: Record<string, unknown>) => [location, id, balance])).toEqual([
      [5, '9', 1000.3],
      [5, '10', 50.05],
      [5, '12', -7.77],
      [6, '10', 5.5],
    ]);
    expect(locations).toMatchObject([
      { location: 5, guarantors: 3, currentAmount: 30.05, thirtyDaysAmount: 0.2, sixtyDaysAmount: 20 },
      { location: 6, guarantors: 1, currentAmount: 5.5, balance: 5.5 },
    ]);
    expect(totals).toMatchObject({ location: 'ALL', guarantors: 3, ninetyDaysAmount: 1000.1, balance: 1048.08 });
    const sums = { buckets: 1055.85, unappliedCredits: -7.77, balance: 1048.08, difference: 0 };
    expect(check).toEqual({ ok: true, ...sums, pages: 4, problems: [] });
  });

  it.each([
    [
      'csv',
      ['--sort', '-balance', '--limit', '2'],
      [
        ['5', '9'],
        ['5', '10'],
      ],
    ],
    [
      'by a field that is not shown',
      ['--sort', 'lastName,-location'],
      [
        ['5', '12'],
        ['6', '10'],
        ['5', '10'],
        ['5', '9'],
      ],
    ],
    [
      'by ids, which are text',
      ['--sort', '-id'],
      [
        ['5', '12'],
        ['5', '10'],
        ['6', '10'],
        ['5', '9'],
      ],
    ],
  ])('sorts %s', async (_, argv, rows) => {
    const { stdout } = await report(['--location', '5,6', '--fields', 'location,id', ...argv]);
    expect(stdout.trimEnd().split('\n').slice(1)).toEqual(rows.map((row) => row.join(',')));
    const { records, totals } = JSON.parse((await report(['--location', '5,6', '--json', ...argv])).stdout);
    expect(records.map(({ location, id }: Record<string, unknown>) => [String(location), id])).toEqual(rows);
    expect(totals).toMatchObject({ guarantors: 3, balance: 1048.08 });
    const table = await report(['--location', '5,6', '--fields', 'location,id', '--format', 'table', ...argv]);
    expect([...table.stdout.matchAll(/^(\d+) +(\d+)$/gm)].map(([, ...row]) => row)).toEqual(rows);
    const html = await report(['--location', '5,6', '--format', 'html', ...argv]);
    const [, guarantors = ''] = html.stdout.split('<h2>Guarantors');
    const cells = [...guarantors.matchAll(/<tr><td>(\d+)<\/td><td>(\d+)<\/td>/g)];
    expect(cells.map(([, ...row]) => row)).toEqual(rows);
  });

  it('sorts locations for totals only, and keeps ALL at the end', async () => {
    const argv = ['--location', '5,6', '--totals-only', '--fields', 'location,balance', '--sort', 'balance'];
    expect((await report(argv)).stdout).toBe('location,balance\n6,5.5\n5,1042.58\nALL,1048.08\n');
    const { locations } = JSON.parse((await report([...argv, '--json'])).stdout);
    expect(locations).toEqual([
      { location: 6, balance: 5.5 },
      { location: 5, balance: 1042.58 },
    ]);
  });

  it.each([
    ['a balance', ['--filter', 'balance>=50.05'], ['9', '10']],
    ['a bucket', ['--filter', 'sixtyDays>0'], ['10']],
    ['guarantors', ['--patient', '12,9'], ['9', '12']],
    ['nobody', ['--filter', 'balance>9999'], []],
    ['a number of rows', ['--limit', '1'], ['9']],
  ])('selects by %s', async (_, argv, ids) => {
    const { stdout, exitCode } = await report(['--location', '5', '--fields', 'id', ...argv]);
    expect({ exitCode, ids: stdout.trimEnd().split('\n').slice(1) }).toEqual({ exitCode: 0, ids });
  });

  it('tells of a location without data, and goes on', async () => {
    const ran = await report(['--location', '7,6', '--fields', 'location,id']);
    const stderr = 'Location 7 has no data: Location 7 has no transactions.\n';
    expect(ran).toEqual({ exitCode: 0, stdout: 'location,id\n6,10\n', stderr });
  });

  it.each([
    [['7'], 'Error: Location 7 has no transactions.\n'],
    [['7,99'], 'Error: None of the locations has data.\n'],
  ])('ends with 4 when none of %s has any', async (locations, message) => {
    const { exitCode, stdout, stderr } = await report(['--location', ...locations]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 4, stdout: '' });
    expect(stderr).toContain(message);
  });

  it.each([
    [[], '--location is required'],
    [['--location', '5,ALL'], '--location takes either ids or ALL'],
    [['--location', 'east'], '--location: no location is named "east".'],
    [['--location', '5', '--filter', 'page==2'], 'page is not a filter key here'],
    [['--location', '5', '--filter', 'location.id==6'], 'names location.id more than once'],
    [['--location', '5', '--fields', 'nosuch'], 'nosuch is not a field'],
    [['--location', '5', '--totals-only', '--fields', 'lastName'], 'lastName is not a field'],
  ])('refuses %j before any request', async (argv, message) => {
    const { exitCode, stderr } = await report(argv, {
      send: () => Promise.reject(new Error('Nothing is to be sent.')),
    });
    expect(exitCode).toBe(2);
    expect(stderr).toContain(message);
  });
});

describe('agingbalances report on a terminal', () => {
  it('shows the oldest money first, totals with bars, and the check', async () => {
    const { stdout } = await report(['--location', '5'], { isTTY: true });
    const full = (part: number) => '█'.repeat(part);
    expect(stdout).toBe(
      [
        'id  guarantor     over 90  61-90  31-60   0-30  credits   balance',
        '──  ───────────  ────────  ─────  ─────  ─────  ───────  ────────',
        '9   Older, Ann   1,000.10   0.00   0.20   0.00     0.00  1,000.30',
        '10  Newer, Ann       0.00  20.00   0.00  30.05     0.00     50.05',
        '12  Credit, Ann      0.00   0.00   0.00   0.00    -7.77     -7.77',
        '',
        'Location 5: 3 guarantors, amounts in USD',
        `  0-30 days        30.05    3 %  ${full(1)}`,
        `  31-60 days        0.20    0 %  ${full(1)}`,
        `  61-90 days       20.00    2 %  ${full(1)}`,
        `  over 90 days  1,000.10   95 %  ${full(48)}`,
        '  charges       1,050.35',
        '  credits          -7.77',
        '  balance       1,042.58',
        '',
        'Check: buckets 1,050.35 + credits -7.77 = balance 1,042.58; all 3 pages add up.',
        '',
      ].join('\n'),
    );
  });

  it('gives each age its colour, bold names and totals, and a check in green', async () => {
    const plain = await report(['--location', '5'], { isTTY: true });
    const { stdout } = await report(['--location', '5'], { isTTY: true, env: { NO_COLOR: '' } });
    expect(stripVTControlCharacters(stdout)).toBe(plain.stdout);
    for (const [line, colour] of [
      ['0-30 days', 32],
      ['31-60 days', 33],
      ['61-90 days', 35],
      ['over 90 days', 31],
    ] as const) {
      expect(stdout.split('\n').find((text) => text.includes(line))).toContain(`\u001b[${colour}m█`);
    }
    expect(stdout).toContain('\u001b[1mLocation 5\u001b[22m: 3 guarantors');
    expect(stdout).toContain('\u001b[32mCheck: ');
  });

  it('shows no bars in a file, and every location with all of them together', async () => {
    const { stdout } = await report(['--location', '5,6', '--format', 'table', '--totals-only']);
    expect(stdout).not.toContain('█');
    expect(stdout.match(/^\S.*: .*$/gm)).toEqual([
      'Location 5: 3 guarantors, amounts in USD',
      'Location 6: 1 guarantor, amounts in USD',
      'Both locations: 3 guarantors, amounts in USD',
      'Check: buckets 1,055.85 + credits -7.77 = balance 1,048.08; all 4 pages add up.',
    ]);
  });

  it('shows 100 guarantors and totals of all', async () => {
    const patientReports = Array.from({ length: 101 }, (_, at) => ({ id: String(at + 1), current: 1, balance: 1 }));
    const meta = { pagination: { limit: 1000, total: 101 } };
    const { send } = new Script(success({ patientReports }, { meta }));
    const { stdout, stderr } = await report(['--location', '5'], { send, isTTY: true });
    expect(stdout.match(/^\d+ /gm)).toHaveLength(100);
    expect(stdout).toContain('balance 101.00; the page adds up.');
    expect(stderr).toBe(
      'These are the 100 with the oldest money of 101 guarantors; totals are of all. Add --all for every one.\n',
    );
  });
});

describe('agingbalances report of a server whose sums disagree', () => {
  const wrong = () =>
    new Script(
      success(
        { balance: 2, patientReports: [{ id: '1', current: 1, balance: 1 }] },
        { meta: { pagination: { limit: 9, total: 9 } } },
      ),
    ).send;
  const problem = 'Location 5, page 1: balance is 2.00 but its guarantors add up to 1.00.';

  it.each([['--csv'], ['--format=ndjson'], ['--json']])('prints nothing as %s and ends with 8', async (flag) => {
    const { exitCode, stdout, stderr } = await report(['--location', '5', flag], { send: wrong() });
    expect({ exitCode, stdout }).toEqual({ exitCode: 8, stdout: '' });
    expect(stderr).toContain(problem);
  });

  it('shows a person the figures beside the complaint', async () => {
    const { exitCode, stdout, stderr } = await report(['--location', '5'], { send: wrong(), isTTY: true });
    expect(exitCode).toBe(8);
    expect(stdout).toContain("Check: buckets 1.00 + credits 0.00 = balance 1.00; the server's own sums disagree (1).");
    expect(stderr).toContain(problem);
  });

  it('leaves a file as it was', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'molar-test-'));
    const out = join(folder, 'aging.txt');
    try {
      await writeFile(out, 'before');
      const { exitCode } = await report(['--location', '5', '--format', 'table', '--out', out], { send: wrong() });
      expect([exitCode, await readFile(out, 'utf8')]).toEqual([8, 'before']);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
