import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { reportRecords } from '../../commands/reports/practice.ts';
import { ORGANIZATION, TOKENS } from '../../support/ids.ts';
import { csvRows, type Record_, sharedOffice, succeeded } from './practice.ts';

const PHONE = { phoneType: 'MOBILE', number: '303-555-0100', sequence: 1 };

/** Guarantor 9 with a phone, an e-mail address, two payments of 5 and 3 dollars, and a visit in the far future; 13 who owes since today. */
function records(): Record_[] {
  const line = (record: Record_) => ({ organizationId: ORGANIZATION, ...record });
  const links = { patient: { id: 9 }, location: { id: 5 } };
  const payment = { type: 'Transaction', ledgerType: 'PatientProcedurePayment', ...links };
  return [
    ...reportRecords().map((record) =>
      record.type === 'PatientV1' && record.id === 9
        ? { ...record, phones: [PHONE], emailAddress: 'nine@example.com' }
        : record,
    ),
    line({ ...payment, id: 21, amount: -5, transactionDate: '2026-02-10' }),
    line({ ...payment, id: 22, amount: -3, transactionDate: '2026-02-11' }),
    line({ ...payment, id: 23, amount: -4, transactionDate: '2026-02-12', isActive: false }),
    line({ type: 'PatientV1', id: 13, firstName: 'Eve', lastName: 'Young', patientStatus: 'ACTIVE' }),
    line({
      ...{ type: 'Transaction', id: 24, ledgerType: 'PatientProcedureLedger', amount: 15, location: { id: 5 } },
      ...{ patient: { id: 13 }, transactionDate: new Date().toISOString().slice(0, 10) },
    }),
    line({
      ...{ type: 'AppointmentV1', id: 9, start: '2125-01-03T15:00:00Z', duration: 60, status: 'CONFIRMED' },
      ...{ patient: { id: 9 }, provider: { id: 3 }, operatory: { id: 51 } },
    }),
  ];
}

const office = sharedOffice({ records, organization: ORGANIZATION, token: TOKENS.full });

const AGING = '/agingbalances/report';
const PRODUCTION = '/locationproductionnetschedule';

/** Changes the first amount of a field in the answers of a path. */
const lieAbout = (path: string, field: string, cents: number) => (url: string, text: string) =>
  url.includes(path)
    ? text.replace(new RegExp(`"${field}":(-?[\\d.]+)`), (_, amount) => `"${field}":${Number(amount) + cents}`)
    : text;

describe('reports collections', () => {
  it('lists who owes, with the money of the API, and what the mirror knows of them', async () => {
    const { records: rows, totals, check } = await office.json('collections', '--over', '60');
    const asked = (await office.get(AGING, { filter: 'location.id==ALL,page==1' })) as Record_;
    const guarantors = asked.patientReports as Record_[];
    const owed = (one: Record_) => Math.round((Number(one.sixtyDays) + Number(one.ninetyDays)) * 100);
    const expected = guarantors
      .filter((one) => owed(one) > 0 && Number(one.balance) > 0)
      .sort((a, b) => owed(b) - owed(a));
    expect(
      rows.map(({ patient, overdueCents, balanceCents }) => [
        String((patient as Record_).id),
        overdueCents,
        balanceCents,
      ]),
    ).toEqual(expected.map((one) => [one.id, owed(one), Math.round(Number(one.balance) * 100)]));
    expect(expected.length).toBe(2);
    expect(rows[0]).toMatchObject({
      ...{ phone: '303-555-0100', phoneOf: { id: 9 }, emailAddress: 'nine@example.com' },
      ...{ lastPaymentDate: '2026-02-11', lastPaymentCents: 300 },
      ...{ nextVisit: '2125-01-03T15:00:00.000Z', nextVisitPatient: { id: 9 } },
    });
    expect(totals).toMatchObject({ count: 2, overdueCents: expected.reduce((sum, one) => sum + owed(one), 0) });
    // Guarantor 13 owes since today only.
    expect(guarantors.map(({ id }) => id)).toContain('13');
    const balance = Math.round(Number(asked.balance) * 100);
    expect(check).toEqual({ agrees: true, expectedCents: balance, gotCents: balance, differenceCents: 0 });
  });

  it('reads a token from standard input for its requests and for the sync of the mirror', async () => {
    const world = { env: { MOLAR_TOKEN: '' }, stdin: TOKENS.full };
    succeeded(await office.run('reports:collections', ['--fresh', '0', '--token-stdin'], world));
    expect(office.requests.some((url) => url.includes(AGING))).toBe(true);
    expect(office.requests.some((url) => url.includes('/patients'))).toBe(true);
  });

  it('adds what several locations have of a guarantor, and splits it again', async () => {
    const money = async (...words: string[]) => {
      const { records: rows } = await office.json('collections', '--over', '30', ...words);
      return new Map(rows.map(({ patient, balanceCents }) => [(patient as Record_).id, Number(balanceCents)]));
    };
    const [both, five] = [await money('--location', '5,6'), await money('--location', '5')];
    expect(both.get(10)).toBe((five.get(10) ?? 0) + 550);
    const folder = join(office.folder, 'collections');
    const ran = succeeded(
      await office.run('reports:collections', [
        '--over',
        '30',
        '--location',
        '5,6',
        '--split-by',
        'location',
        '--to',
        folder,
      ]),
    );
    expect(ran.stdout.trim().split('\n')).toEqual([5, 6].map((id) => join(folder, `collections-${id}.csv`)));
  });

  it.each([
    ['a guarantor', 'ninetyDays'],
    ['the sum of a bucket', 'ninetyDaysAmount'],
    ['the balance of a page', 'balance'],
    ['the credits', 'unappliedCreditsAmount'],
    ["a guarantor's insurance share", 'insurancePortion'],
  ])('writes nothing when the service lies about %s', async (_, field) => {
    const out = join(office.folder, 'lies.csv');
    for (const words of [[], ['--json'], ['--out', out]]) {
      const ran = await office.run('reports:collections', words, {}, lieAbout(AGING, field, 0.01));
      expect(ran).toMatchObject({ exitCode: 8, stdout: '' });
      expect(ran.stderr).toMatch(/do not agree.*\d\.\d\d/s);
      if (field !== 'insurancePortion') expect(ran.stderr).toMatch(/a difference of -?\$0\.01/);
    }
    expect(await readdir(office.folder)).not.toContain('lies.csv');
  });
});

describe('reports production', () => {
  const from = ['--from', '2026-03-01', '--days', '60'];
  const items = async (range: string) =>
    ((await office.get(PRODUCTION, { filter: range })) as Record_[] | undefined) ?? [];
  const sum = (all: readonly Record_[]) => all.reduce((total, one) => total + Number(one.scheduledAmount), 0);

  it('counts an appointment without production that is newer than the mirror, and has a file for its location', async () => {
    const day = ['--from', '2126-03-06', '--days', '1'];
    expect((await office.json('production', ...day)).records).toEqual([]);
    const asked = { token: TOKENS.full, organization: ORGANIZATION };
    const body = {
      // At half past ten in the evening of that day, in Denver.
      ...{ start: '2126-03-07T05:30:00Z', duration: 30, status: 'CONFIRMED' },
      ...{ patient: { id: 9 }, provider: { id: 3 }, operatory: { id: 51 } },
    };
    const made = await office.service.call('POST', '/appointments', { ...asked, body });
    expect(made.status).toBe(201);
    const [row, ...others] = (await office.json('production', ...day)).records;
    expect([row?.appointments, row?.scheduledCents, others]).toEqual([1, 0, []]);
  });

  it.each(['location', 'provider', 'day'])('by %s: its rows add up to what the API says of all', async (by) => {
    const { records: rows, totals, check } = await office.json('production', '--by', by, ...from);
    const all = [
      ...(await items('fromDate==2026-03-01,range==31')),
      ...(await items('fromDate==2026-04-01,range==29')),
    ];
    expect(all.length).toBe(3);
    expect(rows.reduce((total, row) => total + Number(row.appointments), 0)).toBe(3);
    expect(totals).toEqual({ count: rows.length, scheduledCents: sum(all) });
    expect(check).toMatchObject({ agrees: true, expectedCents: sum(all), differenceCents: 0 });
    for (const request of office.requests)
      expect(Number(/range==(\d+)/.exec(request)?.[1] ?? 0)).toBeLessThanOrEqual(31);
  });

  it('has those of the locations asked for; location 6 has no appointments', async () => {
    for (const by of ['location', 'provider', 'day']) {
      const { totals } = await office.json('production', '--by', by, '--location', '6', ...from);
      expect(totals).toEqual({ count: 0, scheduledCents: 0 });
      const both = await office.json('production', '--by', by, '--location', '5,6', ...from);
      expect(both.totals).toMatchObject({ scheduledCents: 12050 });
    }
  });

  it('counts an appointment on the day of its location, whatever the time in UTC', async () => {
    const rows = csvRows(succeeded(await office.run('reports:production', ['--by', 'day', ...from])).stdout);
    expect(rows).toEqual([
      { date: '2026-03-10', appointments: '2', scheduledCents: '10025' },
      { date: '2026-03-12', appointments: '1', scheduledCents: '2025' },
    ]);
    const utc = csvRows(succeeded(await office.run('reports:production', ['--by', 'day', '--utc', ...from])).stdout);
    expect(utc.map(({ date }) => date)).toEqual(['2026-03-10', '2026-03-11', '2026-03-12']);
  });

  it('writes nothing when groups and whole disagree', async () => {
    const lie = (url: string, text: string) =>
      decodeURIComponent(url).includes('provider.id') ? lieAbout(PRODUCTION, 'scheduledAmount', -100)(url, text) : text;
    const ran = await office.run('reports:production', ['--by', 'provider', ...from], {}, lie);
    expect(ran).toMatchObject({ exitCode: 8, stdout: '' });
    expect(ran.stderr).toMatch(/do not agree.*\$120\.50.*\$119\.50.*-\$1\.00/s);
  });

  it('days without appointments are no failure', async () => {
    const ran = succeeded(await office.run('reports:production', ['--from', '2020-01-01']));
    expect(ran.stdout).toBe('location.id,location.name,appointments,scheduledCents\n');
  });
});

it('reports split by location have a file for what is at none, which names none', async () => {
  const folder = join(office.folder, 'nowhere');
  const words = ['--split-by', 'location', '--to', folder, '--format', 'json'];
  succeeded(await office.run('reports:missing-contacts', words));
  const { records: rows, filters } = JSON.parse(await readFile(join(folder, 'missing-contacts-none.json'), 'utf8'));
  expect(rows.map(({ patient }: Record_) => (patient as Record_).id)).toContain(13);
  expect(filters.locations).toEqual([]);
});

describe('the day of an appointment', () => {
  it('may be the first and the last that is asked for', async () => {
    for (const name of ['no-shows', 'adjustments']) {
      const { filters } = await office.json(name, '--from', '2026-03-10', '--to', '2026-03-10');
      expect(filters).toMatchObject({ from: '2026-03-10', to: '2026-03-10' });
    }
  });

  // Appointment 3 starts at 23:30 in Denver, when it is the next day in UTC.
  it.each([
    ['at its location', [], [1, 3], []],
    ['in UTC', ['--utc'], [1], [3]],
    ['in a zone that is named', ['--timezone', 'Asia/Tokyo'], [1], [3]],
    ['at its location, which is asked for', ['--location', '5'], [1, 3], []],
  ])('is the local one %s', async (_, words, tenth, eleventh) => {
    const idsOn = async (date: string) => {
      const { records: rows } = await office.json('schedule', '--date', date, ...words);
      for (const row of rows) expect(row.date).toBe(date);
      return rows.map(({ id }) => id);
    };
    expect([await idsOn('2026-03-10'), await idsOn('2026-03-11')]).toEqual([tenth, eleventh]);
  });
});
