import { expect, it } from 'vitest';
import { planFiles } from '../../../src/cli/exporting/exportplan.ts';
import type { FlagValues } from '../../../src/cli/flags/values.ts';

const planOf = (names: readonly string[], flags: FlagValues = {}, sinceLast?: string) =>
  planFiles(
    names,
    { to: 'out', ...flags },
    { url: 'https://api.example.com', organization: 'org-1' },
    { resume: false, receipt: true, parallel: 1, sinceLast },
    {},
  );

const PAGED = [
  ...['documents', 'patients', 'transactiontags', 'transactions', 'appointmenthistories', 'missedappointments'],
  ...['patientinsuranceplans', 'events', 'appointments'],
];

it('ALL is every list with pages that needs no filter, once, whatever is named besides', () => {
  const filesOf = (...names: readonly string[]) => planOf(names).map(({ file }) => file);
  expect(filesOf('ALL')).toEqual(PAGED.map((name) => `${name}.csv`));
  expect(filesOf('events', 'patients', 'events')).toEqual(['events.csv', 'patients.csv']);
  expect(filesOf('events', 'ALL').toSorted()).toEqual(filesOf('ALL').toSorted());
});

it('a list that has pages and needs a filter is exported with one', () => {
  const [file] = planOf(['scheduletemplatereasons'], { filter: ['scheduletemplatereasons:location.id==1'] });
  expect(file).toMatchObject({ file: 'scheduletemplatereasons.csv', query: { filter: 'location.id==1' } });
});

it.each(['states', 'imageattachments'])('%s are no list, and no file', (name) => {
  expect(() => planOf([name])).toThrow(`${name} cannot be exported.`);
});

it('a list that does not tell what changed is exported whole beside the bookmarks of others', () => {
  const whole = planOf(['ALL'], {}, 'nightly').filter(({ query }) => query.options.sinceLast === undefined);
  expect(whole.map(({ query }) => query.resource.name)).toEqual(['documents', 'transactiontags', 'missedappointments']);
});

it('filters of one resource all count, for its records and for its ids', () => {
  const filter = ['patients:lastName~=S', 'events:id->[5,6]', 'patients:patientStatus==ACTIVE'];
  const files = planOf(['patients', 'events'], {
    filter,
    'full-ids': true,
    fields: ['patients:id', 'patients:lastName'],
  });
  const ofPatients = 'lastName~=S,patientStatus==ACTIVE';
  expect(files.map(({ query }) => query.filter)).toEqual([ofPatients, ofPatients, 'id->[5,6]', 'id->[5,6]']);
  expect(files[0]?.query.plan.selection).toEqual(['id', 'lastName']);
});

it.each(['filter', 'fields'])('--%s of nothing is refused', (name) => {
  expect(() => planOf(['patients'], { [name]: ['patients: '] })).toThrow(`--${name} must begin with`);
});
