import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Refusal } from '../../../src/catalog/failures.ts';
import { formatFilter, parseFilter, parseTypedFilter, type RawTerm } from '../../../src/catalog/filter/grammar.ts';
import { anyCharacter } from '../../support/characters.ts';

const VALUE_OPERATORS = ['==', '!=', '~=', '<>=', '->', '>', '>=', '<', '<='] as const;

function refused(text: string) {
  try {
    parseFilter(text);
  } catch (error) {
    if (error instanceof Refusal) return error.problems;
    throw error;
  }
  return [];
}

describe('parseFilter', () => {
  it.each<[name: string, text: string, terms: RawTerm[]]>([
    ['nothing', '', []],
    ['white space only', ' \t\n ', []],
    ['one term', 'lastName==Smith', [{ key: 'lastName', operator: '==', values: ['Smith'] }]],
    [
      'several terms, one key twice',
      'start>=2026-01-01,start<2026-02-01',
      [
        { key: 'start', operator: '>=', values: ['2026-01-01'] },
        { key: 'start', operator: '<', values: ['2026-02-01'] },
      ],
    ],
    [
      'white space around everything',
      '  lastName  ==  De Vries  ',
      [{ key: 'lastName', operator: '==', values: ['De Vries'] }],
    ],
    [
      'white space around terms and list items',
      ' id -> [ 1 , 2 ] , gender == F ',
      [
        { key: 'id', operator: '->', values: ['1', '2'] },
        { key: 'gender', operator: '==', values: ['F'] },
      ],
    ],
    ['absent', 'chartNumber.absent', [{ key: 'chartNumber', operator: '.absent', values: [] }]],
    [
      'present on a dotted key',
      'preferredLocation.id.present',
      [{ key: 'preferredLocation.id', operator: '.present', values: [] }],
    ],
    [
      'absent before another term',
      'phones.number.absent , gender==M',
      [
        { key: 'phones.number', operator: '.absent', values: [] },
        { key: 'gender', operator: '==', values: ['M'] },
      ],
    ],
    [
      'a quoted value outside a list',
      'lastName=="Smith, Jr."',
      [{ key: 'lastName', operator: '==', values: ['Smith, Jr.'] }],
    ],
    ['white space kept in quotes', 'lastName==" x "', [{ key: 'lastName', operator: '==', values: [' x '] }]],
    ['an empty quoted value', 'lastName==""', [{ key: 'lastName', operator: '==', values: [''] }]],
    [
      'escaped quote and backslash',
      String.raw`tags->["a\"b","c\\d"]`,
      [{ key: 'tags', operator: '->', values: ['a"b', String.raw`c\d`] }],
    ],
    [
      'quoted and bare in one list',
      'tags->["X-Ray, left",scan]',
      [{ key: 'tags', operator: '->', values: ['X-Ray, left', 'scan'] }],
    ],
    ['ALL in quotes', 'location.id->["ALL"]', [{ key: 'location.id', operator: '->', values: ['ALL'] }]],
    ['a star', 'location.id==*', [{ key: 'location.id', operator: '==', values: ['*'] }]],
    ['a value that begins with an equals sign', 'lastName===x', [{ key: 'lastName', operator: '==', values: ['=x'] }]],
    [
      'brackets and quotes inside a bare value',
      'lastName==5" [x]',
      [{ key: 'lastName', operator: '==', values: ['5" [x]'] }],
    ],
    [
      'a plus that became a space',
      'start>=2026-03-02 14:30:00 05:00',
      [{ key: 'start', operator: '>=', values: ['2026-03-02 14:30:00 05:00'] }],
    ],
    ['letters outside ASCII', 'lastName~=Ångström', [{ key: 'lastName', operator: '~=', values: ['Ångström'] }]],
  ])('reads %s', (_name, text, terms) => {
    expect(parseFilter(text)).toEqual(terms);
  });

  it.each([
    ['k<>=v', '<>='],
    ['k<=v', '<='],
    ['k<v', '<'],
    ['k>=v', '>='],
    ['k>v', '>'],
    ['k->[v]', '->'],
    ['k~=v', '~='],
    ['k!=v', '!='],
    ['k==v', '=='],
    ['k <>= v', '<>='],
    ['k < =v', '<', '=v'],
    ['k<>v', '<', '>v'],
  ])('takes the longest operator of %s', (text, operator, value = 'v') => {
    expect(parseFilter(text)).toEqual([{ key: 'k', operator, values: [value] }]);
  });

  it.each<[text: string, at: number, expected: string, source: string]>([
    ['lastName', 9, 'an operator after lastName: one of <>= == != ~= -> >= <= > <.', 'lastName'],
    ['lastName=Smith', 9, 'an operator after lastName', 'lastName'],
    ['lastName eq Smith', 10, 'an operator after lastName', 'lastName'],
    ['lastName==', 11, 'a value after lastName== (lastName.absent selects', 'lastName'],
    ['lastName==,gender==F', 11, 'a value after lastName==', 'lastName'],
    ['==Smith', 1, 'a filter key', 'filter'],
    [',gender==F', 1, 'a filter key', 'filter'],
    ['gender==F,', 11, 'a filter key', 'filter'],
    ['gender==F,,id->[1]', 11, 'a filter key', 'filter'],
    ['id->1', 5, 'a list after id->, such as id->[a,b]', 'id'],
    ['id->[]', 6, 'a value in the list of id', 'id'],
    ['id->[1,]', 8, 'a value in the list of id', 'id'],
    ['id->[1', 7, 'a comma or ] in the list of id', 'id'],
    ['id->["1"2]', 9, 'a comma or ] in the list of id', 'id'],
    ['id->[1]2', 8, 'a comma before the next term', 'filter'],
    ['lastName=="Smith" Jr', 19, 'a comma before the next term', 'filter'],
    ['chartNumber.absent==1', 19, 'a comma before the next term', 'filter'],
    ['lastName=="Smith', 17, 'a closing quote', 'filter'],
    ['.absent', 1, 'a filter key', 'filter'],
  ])('says where %s stops being a filter', (text, at, expected, source) => {
    const [problem, ...rest] = refused(text);
    expect(rest).toEqual([]);
    expect(problem).toMatchObject({ code: 'filter.syntax', source });
    expect(problem?.description).toContain(`At character ${at} of the filter`);
    expect(problem?.description.includes('the filter ends')).toBe(at > text.length);
    expect(problem?.description).toContain(`expected ${expected}`);
  });
});

describe('the limits of parseFilter', () => {
  it('are 500 terms', () => {
    const terms = (count: number) => Array.from({ length: count }, () => 'a==1').join(' , ');
    expect(parseFilter(terms(500))).toHaveLength(500);
    expect(refused(terms(501))).toMatchObject([
      { source: 'filter', description: expect.stringContaining('at most 500 terms') },
    ]);
  });

  it('are keys of 200 characters', () => {
    const text = (length: number) => `${'k'.repeat(length)}==1`;
    expect(parseFilter(text(200))[0]?.key).toHaveLength(200);
    expect(refused(text(201))).toMatchObject([
      { description: expect.stringMatching(/^At character 201 of the filter there is "k";/) },
    ]);
  });

  it('are one whole character of what is wrong, which may be the name of a patient', () => {
    expect(refused('a==1,\u{1f9b7}Smith')).toMatchObject([
      { description: expect.stringContaining('there is "\u{1f9b7}";') },
    ]);
  });
});

describe('formatFilter', () => {
  it.each([
    ['a plain value', { key: 'a', operator: '==', values: ['b'] }, 'a==b'],
    ['spaces inside', { key: 'a', operator: '==', values: ['b c'] }, 'a==b c'],
    ['a comma', { key: 'a', operator: '==', values: ['b,c'] }, 'a=="b,c"'],
    ['an empty value', { key: 'a', operator: '==', values: [''] }, 'a==""'],
    ['what would lengthen the operator', { key: 'a', operator: '>', values: ['=5'] }, 'a>"=5"'],
    ['what would lengthen it by two', { key: 'a', operator: '<', values: ['>=5'] }, 'a<">=5"'],
    ['a list', { key: 'a', operator: '->', values: ['b', 'c"d', 'e]'] }, String.raw`a->[b,"c\"d","e]"]`],
    ['absent', { key: 'a.b', operator: '.absent', values: [] }, 'a.b.absent'],
  ] as const)('writes %s', (_name, term, text) => {
    expect(formatFilter([term])).toBe(text);
  });

  const key = fc
    .stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,8}(\.[A-Za-z_][A-Za-z0-9_]{0,8}){0,2}$/)
    .filter((name) => !/\.(absent|present)$/.test(name));
  const nasty = fc.string({ unit: fc.constantFrom(...'"\\,[]=<>!~-. \t\n\u00a0aé*%\u{1f9b7}') });
  const value = fc.oneof(nasty, fc.string({ unit: anyCharacter }), fc.string());
  const term: fc.Arbitrary<RawTerm> = fc.oneof(
    fc.record({ key, operator: fc.constantFrom('.absent', '.present'), values: fc.constant<string[]>([]) }),
    fc.record({ key, operator: fc.constant('->'), values: fc.array(value, { minLength: 1, maxLength: 4 }) }),
    fc.record({
      key,
      operator: fc.constantFrom(...VALUE_OPERATORS.filter((operator) => operator !== '->')),
      values: fc.tuple(value),
    }),
  );

  it('writes what parseFilter reads back, whatever the values hold', () => {
    fc.assert(
      fc.property(fc.array(term, { maxLength: 5 }), (terms) => {
        expect(parseFilter(formatFilter(terms))).toEqual(terms);
      }),
      { numRuns: 2000 },
    );
  });

  it('leaves text that was read and written once as it is', () => {
    fc.assert(
      fc.property(fc.array(term, { maxLength: 3 }), (terms) => {
        const once = formatFilter(terms);
        expect(formatFilter(parseFilter(once))).toBe(once);
      }),
    );
  });

  it('any text either reads or is refused as filter.syntax', () => {
    fc.assert(
      fc.property(nasty, key, (text, name) => {
        expect(refused(name + text).every((problem) => problem.code === 'filter.syntax')).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('parseTypedFilter', () => {
  const typed = (text: string) => formatFilter(parseTypedFilter(text));

  it.each([
    ['lastModified.gte=2026-01-01', 'lastModified>=2026-01-01'],
    ['lastModified.gt=2026-01-01,lastModified.lt=2026-02-01', 'lastModified>2026-01-01,lastModified<2026-02-01'],
    ['firstVisitDate.lte = 2026-01-01 , gender.ne=M', 'firstVisitDate<=2026-01-01,gender!=M'],
    ['lastName.starts=Sm', 'lastName~=Sm'],
    ['lastName.contains=De Vries', 'lastName<>=De Vries'],
    ['lastName.eq="Lee, Jr"', 'lastName=="Lee, Jr"'],
    ['preferredLocation.id.in=5,6', 'preferredLocation.id->[5,6]'],
    ['preferredLocation.id.in=[5,6],gender==F', 'preferredLocation.id->[5,6],gender==F'],
    ['tags.in="X-Ray, left", Perio ', 'tags->["X-Ray, left",Perio]'],
    ['id.in=5,6,gender.eq=F', 'id->[5,6],gender==F'],
    ['id.in=5,lastModified>=2026-01-01', 'id->[5],lastModified>=2026-01-01'],
    ['id.in=5,chartNumber.absent,gender==F', 'id->[5],chartNumber.absent,gender==F'],
    ['tags.in=a.b,c.absently,d=e', 'tags->[a.b,c.absently,d=e]'],
    ['title.eq==x', 'title.eq==x'],
    ['title.eq>=x', 'title.eq>=x'],
    ['title.eq=x=y', 'title==x=y'],
  ])('reads %s as %s', (text, expected) => {
    expect(typed(text)).toBe(expected);
  });

  it('reads whatever the grammar of the API reads as that does', () => {
    const key = fc.constantFrom('id', 'lastName', 'preferredLocation.id', 'title.eq', 'a.in', 'gte', '_b.contains');
    const value = fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom('=x', '5,6', '[5', 'b.gte=5', 'c.absent'));
    const single = fc.record({
      key,
      operator: fc.constantFrom(...VALUE_OPERATORS.filter((operator) => operator !== '->')),
      values: fc.tuple(value),
    });
    const list = fc.record({
      key,
      operator: fc.constant('->' as const),
      values: fc.array(value, { minLength: 1, maxLength: 3 }),
    });
    fc.assert(
      fc.property(fc.array(fc.oneof(single, list), { maxLength: 4 }), (terms) => {
        const text = formatFilter(terms);
        expect(parseTypedFilter(text)).toEqual(parseFilter(text));
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    ['lastModified', 'expected an operator after lastModified: one of .eq= .ne= .gt= .gte='],
    ['lastModified=2026-01-01', 'there is "="; expected an operator'],
    ['lastModified.after=2026-01-01', 'expected an operator after lastModified.after'],
    ['id.in=', 'expected a value after id.in='],
    ['id.in=5,', 'expected a value after id.in='],
    ['id.in=[5', 'expected a comma or ] in the list of id'],
    ['gender.eq=,id.in=5', 'expected a value after gender.eq='],
  ])('refuses %s', (text, message) => {
    expect(() => parseTypedFilter(text)).toThrow(message);
  });

  it('is not the grammar of the API', () => {
    expect(refused('lastModified.gte=2026-01-01')).not.toEqual([]);
  });
});
