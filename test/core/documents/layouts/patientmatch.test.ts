import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type KnownPatient, PatientIndex } from '../../../../src/core/documents/layouts/patientmatch.ts';
import type { PathFacts } from '../../../../src/core/documents/layouts/pattern.ts';

const patient = (id: string, more: Partial<KnownPatient> = {}): KnownPatient => ({
  id,
  lastName: 'Smith',
  firstName: 'Ann',
  preferredName: '',
  dateOfBirth: '1980-02-29',
  chartNumber: '',
  isDuplicate: false,
  ...more,
});

describe('the patient of a path', () => {
  it.each<[string, readonly KnownPatient[], Omit<PathFacts, 'tags'>, string | readonly [RegExp, string]]>([
    ['is that of the id', [patient('5')], { id: '005' }, '5'],
    ['is a duplicate by id', [patient('5', { isDuplicate: true })], { id: '5' }, '5'],
    ['is no other than the id says', [patient('5')], { id: '6' }, [/^No patient has this id\.$/, '']],
    [
      'has the chart number in any case',
      [patient('5', { chartNumber: 'c 1\u00e9' })],
      { chartNumber: 'C  1E\u0301' },
      '5',
    ],
    [
      'is not one of two of a chart number',
      [patient('10', { chartNumber: 'c' }), patient('9', { chartNumber: 'C' })],
      { chartNumber: 'c' },
      [/^Several patients have this chart number\.$/, '9;10'],
    ],
    [
      'is the one of two that the name agrees with',
      [patient('10', { chartNumber: 'c', lastName: 'Mu\u0308ller' }), patient('9', { chartNumber: 'C' })],
      { chartNumber: 'c', last: 'm\u00dcller' },
      '10',
    ],
    [
      'is nobody whom the path contradicts',
      [patient('10', { chartNumber: 'c' }), patient('9', { chartNumber: 'C' })],
      { chartNumber: 'c', last: 'Jones', birthDate: '1980-02-29' },
      [/^No patient with this chart number also has this last name and date of birth\.$/, '9;10'],
    ],
    [
      'is no duplicate by chart number',
      [patient('5', { chartNumber: 'c', isDuplicate: true })],
      { chartNumber: 'c' },
      [/^No patient has this chart number\.$/, ''],
    ],
    [
      'goes by the preferred name too',
      [patient('5', { preferredName: 'Annie  B' })],
      { last: 'SMITH', first: 'annie b', birthDate: '1980-02-29' },
      '5',
    ],
    [
      'is no bearer of the name alone',
      [patient('5')],
      { last: 'Smith', first: 'Ann' },
      [/^Last and first name alone/, '5'],
    ],
    [
      'is not one of twins of one name',
      [patient('90071992547409931'), patient('90071992547409930')],
      { last: 'Smith', first: 'Ann', birthDate: '1980-02-29' },
      [/^Several patients have this last name, first name and date of birth\.$/, '90071992547409930;90071992547409931'],
    ],
  ])('%s', (_, patients, facts, expected) => {
    const match = new PatientIndex(patients).match({ tags: [], ...facts });
    if (typeof expected === 'string') return expect(match).toMatchObject({ patient: { id: expected } });
    const [reason, candidates] = expected;
    expect(match).toEqual({
      review: { reason: expect.stringMatching(reason), candidates: candidates.split(';').filter(Boolean) },
    });
  });

  it('is found as by going through everybody', () => {
    const name = fc.constantFrom('Ann', 'ANN', ' ann', 'A\u0308nn', '\u00e4nn', 'An n', 'An  N', '');
    const date = fc.constantFrom('1980-02-29', '1981-01-01');
    const someone = fc.record({
      id: fc.integer({ min: 1, max: 9 }).map(String),
      lastName: name,
      firstName: name,
      preferredName: name,
      dateOfBirth: date,
      chartNumber: name,
      isDuplicate: fc.boolean(),
    });
    const given = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
    const text = name.filter((each) => each !== '');
    const facts = fc
      .record({ id: given(fc.constantFrom('1', '02', '9')), chartNumber: given(text), birthDate: given(date) })
      .chain((some) =>
        some.id === undefined && some.chartNumber === undefined
          ? fc.record({ last: text, first: text }).map((names) => ({ ...some, ...names }))
          : fc.record({ last: given(text), first: given(text) }).map((names) => ({ ...some, ...names })),
      );
    const everybody = fc.uniqueArray(someone, { selector: ({ id }) => id, maxLength: 9 });
    fc.assert(
      fc.property(everybody, facts, (patients, path) => {
        const known = Object.fromEntries(Object.entries(path).filter(([, value]) => value !== undefined));
        const match = new PatientIndex(patients).match({ tags: [], ...known });
        const expected = byGoingThrough(patients, path);
        expect('patient' in match ? match.patient.id : match.review.candidates).toEqual(expected);
      }),
      { numRuns: 3000 },
    );
  });
});

type Path = Partial<Record<'id' | 'chartNumber' | 'last' | 'first' | 'birthDate', string | undefined>>;

/** The id of the only patient it can be, or those of the candidates. */
function byGoingThrough(patients: readonly KnownPatient[], path: Path): string | string[] {
  const same = (one: string, other: string) =>
    new Intl.Collator('en', { sensitivity: 'accent' }).compare(
      one.trim().replace(/ +/g, ' '),
      other.trim().replace(/ +/g, ' '),
    ) === 0;
  const isBearer = (each: KnownPatient) =>
    same(each.lastName, path.last ?? '') &&
    [each.firstName, each.preferredName].some((one) => same(one, path.first ?? ''));
  const others = patients.filter((each) => !each.isDuplicate);
  let found: readonly KnownPatient[];
  if (path.id !== undefined) found = patients.filter((each) => Number(each.id) === Number(path.id));
  else if (path.chartNumber !== undefined)
    found = others.filter((each) => same(each.chartNumber, path.chartNumber ?? ''));
  else if (path.birthDate !== undefined)
    found = others.filter((each) => isBearer(each) && each.dateOfBirth === path.birthDate);
  else found = others.filter(isBearer);
  const left = found.filter(
    (each) =>
      (path.chartNumber === undefined || same(each.chartNumber, path.chartNumber)) &&
      (path.last === undefined || same(each.lastName, path.last)) &&
      (path.first === undefined || same(each.firstName, path.first) || same(each.preferredName, path.first)) &&
      (path.birthDate === undefined || each.dateOfBirth === path.birthDate),
  );
  const isSure = path.id !== undefined || path.chartNumber !== undefined || path.birthDate !== undefined;
  if (left.length === 1 && isSure) return left.map(({ id }) => id).join('');
  return (left.length > 0 ? left : found).map(({ id }) => id).sort((one, other) => Number(one) - Number(other));
}
