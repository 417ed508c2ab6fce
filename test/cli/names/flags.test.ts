import { describe, expect, it } from 'vitest';
import AgingReport from '../../../src/commands/agingbalances/report.ts';
import AppointmentsCreate from '../../../src/commands/appointments/create.ts';
import AppointmentsList from '../../../src/commands/appointments/list.ts';
import EventsCreate from '../../../src/commands/events/create.ts';
import PatientsUpdate from '../../../src/commands/patients/update.ts';
import ScheduleOpeningsList from '../../../src/commands/scheduleopenings/list.ts';
import TransactionsCount from '../../../src/commands/transactions/count.ts';
import TransactionsList from '../../../src/commands/transactions/list.ts';
import { ListScript, Script, success } from '../../core/transport/script.ts';
import { runCommand, type World } from '../runcommand.ts';
import { namesEnv } from './namesenv.ts';

const NAMES = `kind,id,name,timezone,order
location,5,Main Street,America/Denver,2
location,6,"Harbour, Pier 1",Pacific/Auckland,1
location,7,Lake,,
location,8,lake,,
provider,12,Dr. Ång,,
operatory,3,Room 1,,
`;

/** Sunday 22 November 2026 in Denver, Monday in Auckland. */
const NOW = Date.parse('2026-11-23T05:00:00Z');
const clock = { now: () => NOW, sleep: () => Promise.resolve() };

const COMMANDS = {
  'transactions:list': TransactionsList,
  'transactions:count': TransactionsCount,
  'appointments:list': AppointmentsList,
  'appointments:create': AppointmentsCreate,
  'events:create': EventsCreate,
  'patients:update': PatientsUpdate,
  'scheduleopenings:list': ScheduleOpeningsList,
  'agingbalances:report': AgingReport,
};
const run = (id: keyof typeof COMMANDS, argv: readonly string[], world: World = {}) =>
  runCommand(id, COMMANDS[id], argv, { clock, env: namesEnv(NAMES), ...world });

const empty = () => new ListScript(success([]));
/** The filter that a list sends, and what it says. */
async function sent(id: keyof typeof COMMANDS, argv: readonly string[], world: World = {}) {
  const script = empty();
  const ran = await run(id, argv, { script, ...world });
  return { filter: script.queries[0]?.filter, stderr: ran.stderr, exitCode: ran.exitCode };
}

describe('a relative date', () => {
  it.each([
    ['of no location: the first of the names file', [], '2026-11-23 in Pacific/Auckland'],
    ['of a location', ['--location', 'main street'], '2026-11-22 in America/Denver'],
    ['of locations of different zones', ['--location', '5,6'], '2026-11-23 in Pacific/Auckland'],
    ['of locations of one zone', ['--location', '7', '--location', '99'], '2026-11-23 in UTC, this computer'],
    ['of a named zone', ['--timezone', 'America/New_York'], '2026-11-23 in America/New_York'],
    ['of UTC', ['--utc', '--location', '5'], '2026-11-23 in UTC'],
  ])('%s', async (_name, argv, today) => {
    const { filter, stderr, exitCode } = await sent('transactions:list', ['--from', 'today', ...argv]);
    const [date] = today.split(' ');
    expect(exitCode).toBe(0);
    expect(filter).toContain(`transactionDate>=${date}`);
    expect(stderr).toContain(`--from is ${date} (today is ${today}`);
  });

  it('may begin with a hyphen, with a space before it or an equals sign', async () => {
    const apart = await sent('transactions:list', ['--from', '-6m', '--to', '-1D', '--location', '5']);
    const joined = await sent('transactions:list', ['--from=-6m', '--to=-1d', '--location=5']);
    expect(apart.filter).toBe('transactionDate>=2026-05-22,transactionDate<=2026-11-21,location.id->[5]');
    expect(joined.filter).toBe(apart.filter);
    expect(apart.stderr).toBe('--from is 2026-05-22, --to is 2026-11-21 (today is 2026-11-22 in America/Denver).\n');
  });

  it('is as if typed where a date-time is asked for: the whole day, at the location', async () => {
    const { filter } = await sent('appointments:list', ['--from', 'today', '--to', 'today', '--location', '5']);
    expect(filter).toBe('location.id->[5],start>=2026-11-22T07:00:00Z,start<2026-11-23T07:00:00Z');
    const typed = ['--from', '2026-11-22', '--to', '2026-11-22', '--location', '5'];
    expect((await sent('appointments:list', typed)).filter).toBe(filter);
  });

  it.each([['--quiet'], ['--json'], ['--format=json']])('is not told with %s', async (flag) => {
    expect((await sent('transactions:list', ['--from', 'today', flag])).stderr).toBe('');
  });

  it('is taken in every kind of command', async () => {
    const openings = await run(
      'scheduleopenings:list',
      ['--location', '5', '--from', 'monday', '--to', '+2w', '--csv'],
      {
        script: new Script((request) => {
          expect(decodeURIComponent(request.url)).toContain('startDate==2026-11-23,endDate==2026-12-06');
          return success([]);
        }),
      },
    );
    expect(openings.stderr).toContain('--from is 2026-11-23, --to is 2026-12-06');
    const update = await run('patients:update', ['7', '--date-of-birth', 'year-start', '--dry-run', '--utc']);
    expect(JSON.parse(update.stdout).body).toEqual({ dateOfBirth: '2026-01-01' });
    const series = ['--recurrence', 'weekly', '--on', 'MON', '--from', 'monday', '--until', '+1y', '--dry-run'];
    const event = ['--title', 'X', '--location', '5', '--operatory', 'room 1', '--start', '2026-11-23T09:00'];
    const created = JSON.parse((await run('events:create', [...event, '--duration', '30', ...series])).stdout);
    expect(created.body).toMatchObject({
      start: '2026-11-23T16:00:00Z',
      operatory: { id: 3 },
      recurrenceStart: '2026-11-23',
      recurrenceEnd: '2027-11-22',
    });
  });
});

describe('another spelling of a date', () => {
  it.each([
    ['transactions:list', ['--from', '11/22/2026'], 'write 2026-11-22.'],
    ['transactions:count', ['--to', '11-22-2026'], 'write 2026-11-22.'],
    ['appointments:list', ['--modified-since', '2026/11/22'], 'write 2026-11-22.'],
    ['patients:update', ['7', '--date-of-birth', '22/11/1976'], 'write 1976-11-22.'],
    ['transactions:list', ['--from', '2026-02-30'], 'a date that exists'],
    ['appointments:list', ['--to', '2026-02-30'], 'must be an ISO 8601 date-time'],
  ] as const)('%s %j is refused, and nothing is sent', async (id, argv, message) => {
    const ran = await run(id, argv);
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
    expect(ran.stderr).toContain(message);
  });

  it('changes nothing in --filter', async () => {
    const ran = await run('transactions:list', ['--filter', 'transactionDate>=today']);
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
    expect(ran.stderr).toContain('The value of transactionDate must be a date that exists');
  });
});

describe('a name', () => {
  it.each([
    ['appointments:list', ['--location', 'MAIN STREET'], 'location.id->[5]'],
    ['appointments:list', ['--location', 'Harbour, Pier 1'], 'location.id->[6]'],
    ['appointments:list', ['--location', '"harbour, pier 1",Main Street,9'], 'location.id->[6,5,9]'],
    [
      'appointments:list',
      ['--provider', 'dr. a\u030Ang', '--operatory', 'Room 1'],
      'operatory.id->[3],provider.id->[12]',
    ],
    [
      'transactions:list',
      ['--provider', 'Dr. Ång', '--from', '2026-01-01'],
      'provider.id==12,transactionDate>=2026-01-01',
    ],
    ['appointments:list', ['--location', 'ALL'], 'location.id->[ALL]'],
  ] as const)('%s %j stands for its id', async (id, argv, filter) => {
    expect((await sent(id, argv)).filter).toBe(filter);
  });

  it('stands for its id in a body, whose times are those of its location', async () => {
    const argv = ['--title', 'X', '--location', 'Main Street', '--operatory', '3'];
    const times = ['--start', '2026-11-24T08:00', '--duration', '30'];
    const ran = await run('events:create', [...argv, ...times, '--dry-run']);
    expect(JSON.parse(ran.stdout).body).toMatchObject({
      location: { id: 5 },
      operatory: { id: 3 },
      start: '2026-11-24T15:00:00Z',
    });
    expect(ran.stderr).toBe('');
  });

  it('of no location leaves times to the first of the names file, and says so', async () => {
    const argv = ['--start', '2026-11-24T08:00', '--patient', '1', '--provider', 'dr. ång', '--operatory', 'Room 1'];
    const ran = await run('appointments:create', [...argv, '--dry-run']);
    expect(JSON.parse(ran.stdout).body).toMatchObject({ start: '2026-11-23T19:00:00Z', provider: { id: 12 } });
    expect(ran.stderr).toContain('taken in Pacific/Auckland, that of the first location of the names file');
  });

  it.each([
    ['appointments:list', ['--location', 'lake'], '2 locations are named Lake: 7, 8.'],
    ['appointments:list', ['--location', 'Main Stret'], 'Did you mean Main Street?'],
    ['appointments:create', ['--operatory', 'Main Street'], 'no operatory is named "Main Street"'],
    ['agingbalances:report', ['--location', 'Main Street,Bay'], 'no location is named "Bay"'],
  ] as const)('%s %j is refused, and nothing is sent', async (id, argv, message) => {
    const ran = await run(id, argv);
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
    expect(ran.stderr).toContain(message);
  });
});
