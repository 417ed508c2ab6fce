import { describe, expect, it } from 'vitest';
import { refusalOf } from '../support/calls.ts';
import { sharedService } from '../support/service.ts';
import { callSample, filterWith, operationsThat, type TestedOperation } from './operations.ts';

const service = sharedService();

/** Every operator of the specification (Common conventions 2) and the value it is tried with. */
const TRIED: Readonly<Record<string, string>> = {
  '==': '5',
  '!=': '5',
  '~=': '5',
  '<>=': '5',
  '->': '[5]',
  '>': '5',
  '>=': '5',
  '<': '5',
  '<=': '5',
  '.absent': '',
  '.present': '',
};

/** Values that no key of a kind takes. */
const BAD_VALUES: Readonly<Record<string, readonly string[]>> = {
  id: ['abc', '0', '-1', '1.5', '1e3', '9007199254740992', '""', '5;6'],
  date: ['2026-02-30', '2026-1-1', '20260101', 'today', '2026-01-01T00:00:00Z', '""'],
  dateTime: [
    '2026-02-30T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T10:00:00+25:00',
    'yesterday',
    '1767225600000',
    '""',
  ],
  choice: ['NOSUCH', '""', '5'],
  yesNo: ['yes', '1', '""'],
  digits: ['abc', '""'],
  tag: ['""', '" "'],
  integer: ['abc', '1.5', '-1', '1e1', '""'],
  dollars: ['abc', '"1,5"', '$5', '""'],
  timeZone: ['Mars/Olympus', '+02:00', '""'],
};

function call(tested: TestedOperation, filter: string) {
  return callSample(service, tested, { query: { filter } });
}

describe.each(operationsThat((operation) => operation.filters !== undefined))('%s', (_id, tested) => {
  const keys = Object.values(tested.operation.filters ?? {});
  const names = keys.map((key) => key.key);

  it('refuses unknown keys and lists the known ones (D10)', async () => {
    for (const key of ['nosuch', 'ID', '__proto__', 'constructor', `${names[0]}x`, `${names[0]?.toUpperCase()}_`]) {
      const called = await call(tested, filterWith(tested, `${key}==1`));
      expect(called.status).toBe(400);
      const error = called.body.errors.find((candidate) => candidate.code === 'filter.key');
      expect(error?.source).toBe(key);
      for (const name of names) expect(error?.description).toContain(name);
    }
  });

  it.each(keys.map((key) => [key.key, key] as const))(
    'refuses the operators that %s does not take, and lists those it takes',
    async (name, key) => {
      for (const [operator, value] of Object.entries(TRIED)) {
        if (key.operators.some((own) => own === operator)) continue;
        const called = await call(tested, filterWith(tested, name + operator + value));
        expect(called.status, operator).toBe(400);
        const error = called.body.errors.find((candidate) => candidate.code === 'filter.operator');
        expect(error?.source).toBe(name);
        for (const own of key.operators)
          expect(error?.description.split(/[\s.]+/).join(' ')).toContain(own.replace('.', ''));
      }
    },
  );

  it.each(keys.map((key) => [key.key, key] as const))('refuses values that %s cannot have', async (name, key) => {
    const operators = key.operators.filter((own) => !own.startsWith('.'));
    for (const [index, operator] of operators.entries()) {
      const values = BAD_VALUES[key.value.name] ?? [];
      // What a value may be is the same for all operators of a key.
      for (const value of index === 0 ? values : values.slice(0, 1)) {
        const called = await call(
          tested,
          filterWith(tested, name + operator + (operator === '->' ? `[${value}]` : value)),
        );
        expect(called.status, name + operator + value).toBe(400);
        expect(called.body.errors).toContainEqual(expect.objectContaining({ code: 'filter.value', source: name }));
      }
    }
  });

  it('refuses !=ALL, and ALL among ids (D12)', async () => {
    for (const { key, operators, value } of keys.filter((candidate) => candidate.value.all)) {
      const wrong = [
        ...(operators.includes('!=') ? [`${key}!=ALL`, `${key}!=*`] : []),
        ...(operators.includes('->') ? [`${key}->[5,ALL]`] : []),
      ];
      expect(value.name).toBe('id');
      for (const filter of wrong) {
        const called = await call(tested, filterWith(tested, filter));
        expect(called.status, filter).toBe(400);
        expect(called.body.errors).toContainEqual(expect.objectContaining({ code: 'filter.value', source: key }));
      }
    }
  });

  it('refuses what is no filter at all', async () => {
    const [key] = names;
    const operator = keys[0]?.operators.includes('==') ? '==' : '->';
    const bad = [
      `${key}`,
      `${key}=5`,
      `${key}${operator}`,
      `${key}${operator},`,
      `${key}->`,
      `${key}->[]`,
      `${key}->[5`,
      `${key}->[5,]`,
      `${key}->5`,
      `${key}${operator}"5`,
      `${key}->[5]x`,
      ',',
      `,${key}${operator}5`,
      '==5',
      `${key} is 5`,
      `${key}=~5`,
    ];
    for (const filter of bad) {
      const called = await call(tested, filter);
      expect(called.status, filter).toBe(400);
      expect(
        called.body.errors.every((error) => error.code.startsWith('filter.')),
        filter,
      ).toBe(true);
    }
  });

  it('reports every wrong term together', async () => {
    const called = await call(tested, filterWith(tested, 'nosuch==1', 'other==2', `${names[0]}.nosuch==3`));
    expect(called.body.errors.filter((error) => error.code === 'filter.key').map((error) => error.source)).toEqual([
      'nosuch',
      'other',
      `${names[0]}.nosuch`,
    ]);
  });

  it('answers 400 when a filter that is required is missing or empty', async () => {
    if (!tested.operation.filterRequired) return;
    for (const filter of ['', '  ']) {
      expect(refusalOf(await call(tested, filter))).toEqual({ status: 400, errors: ['filter.missing filter'] });
    }
  });

  it('names each required key that is missing', async () => {
    const required = keys.filter((key) => key.required).map((key) => key.key);
    const other = keys.find((key) => !key.required);
    if (required.length === 0 || other === undefined) return;
    const called = await call(tested, `${other.key}${other.operators[0]}${TRIED[other.operators[0] ?? '']}`);
    expect(called.status).toBe(400);
    const sources = called.body.errors.filter((error) => error.code === 'filter.missing').map((error) => error.source);
    expect(sources).toEqual(expect.arrayContaining(required));
  });
});
