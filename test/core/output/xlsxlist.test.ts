import { describe, expect, it } from 'vitest';
import { patientFields } from '../../../src/catalog/resources/patients.ts';
import { transactionFields } from '../../../src/catalog/resources/transactions.ts';
import { columnsOf } from '../../../src/core/output/columns.ts';
import { column, readBack, sharedFolder, sheetsOf } from './workbooks.ts';

const folder = sharedFolder();

describe('lists within records', () => {
  const phone = (id: number, number: string) => ({ id, phoneType: 'HOME', number, extension: null, sequence: id });

  it('has phones side by side, and in a sheet of their own', async () => {
    const columns = columnsOf(patientFields, ['id', 'phones', 'lastName']);
    const pages = [
      [{ id: 7000000000114, phones: [], lastName: 'None' }],
      [{ id: 2, phones: [phone(1, '0155'), phone(2, '(555) 010-0142')], lastName: 'Two' }],
    ];
    expect(await sheetsOf(pages, { folder: folder(), columns })).toEqual({
      patients: [
        ['id', 'phone', 'phone_2', 'lastName'],
        ['7000000000114', null, null, 'None'],
        ['2', '0155', '(555) 010-0142', 'Two'],
      ],
      phones: [
        ['patient.id', 'id', 'phoneType', 'number', 'extension', 'sequence'],
        ['2', '1', 'HOME', '0155', null, 1],
        ['2', '2', 'HOME', '(555) 010-0142', null, 2],
      ],
    });
  });

  it('has links side by side, the parts of an object, and of objects their number beside their sheet', async () => {
    const names = ['id', 'amount', 'transactionTags', 'reasonTags', 'patientPaymentBilling', 'distributions'];
    const columns = columnsOf(transactionFields, names);
    const patientPaymentBilling = { checkNumber: '0012', bankNumber: null, referenceNumber: 'R1' };
    const distributions = [{ chargeId: 9007199254740991, appliedAmount: 12.5, isActive: true }];
    const records = [
      {
        id: 1,
        amount: 0.1,
        transactionTags: { 1: { id: 71 }, 2: { id: 72 } },
        reasonTags: {},
        patientPaymentBilling,
        distributions,
      },
      { id: 2, amount: -3, transactionTags: {}, reasonTags: {}, patientPaymentBilling: null, distributions: [] },
    ];
    expect(await sheetsOf([records], { folder: folder(), columns, one: 'transaction', many: 'transactions' })).toEqual({
      transactions: [
        [
          ...['id', 'amount', 'transactionTags', 'transactionTags_2', 'reasonTags'],
          ...['checkNumber', 'bankNumber', 'referenceNumber'].map((part) => `patientPaymentBilling.${part}`),
          'distributions',
        ],
        ['1', 0.1, '71', '72', null, '0012', null, 'R1', 1],
        ['2', -3, null, null, null, null, null, null, 0],
      ],
      distributions: [
        ['transaction.id', 'chargeId', 'appliedAmount', 'isActive'],
        ['1', '9007199254740991', 12.5, true],
      ],
    });
  });

  it('has no sheet for lists without entries', async () => {
    const columns = columnsOf(patientFields, ['id', 'phones']);
    expect(Object.keys(await sheetsOf([[{ id: 1, phones: [] }]], { folder: folder(), columns }))).toEqual(['patients']);
  });

  it('gives every entry of many records to its record', async () => {
    const records = Array.from({ length: 500 }, (_, id) => ({
      id: id + 1,
      phones: Array.from({ length: (id * 7) % 5 }, (_phone, at) => phone(at, `${id}-${at}`)),
    }));
    const pages = [records.slice(0, 200), records.slice(200)];
    const sheets = await sheetsOf(pages, { folder: folder(), columns: columnsOf(patientFields, ['id', 'phones']) });
    const beside = sheets.patients?.slice(1).map(([id, ...phones]) => ({ id, numbers: phones.filter(Boolean) }));
    const numbers = new Map(records.map(({ id }) => [String(id), [] as unknown[]]));
    for (const [parent, , , number] of sheets.phones?.slice(1) ?? []) numbers.get(String(parent))?.push(number);
    const below = [...numbers].map(([id, numbers]) => ({ id, numbers }));
    const wanted = records.map(({ id, phones }) => ({ id: String(id), numbers: phones.map(({ number }) => number) }));
    expect(beside).toEqual(wanted);
    expect(below).toEqual(wanted);
  });
});

describe('columns that no catalog knows', () => {
  it('are what all their values are', async () => {
    const names = ['day', 'at', 'at_local', 'amount_cents', 'big_cents', 'share_cents', 'share', 'mixed'];
    const columns = names.map((name) => column(name, 'any'));
    const rows = [
      {
        day: '2026-03-02',
        at: '2026-03-02T14:30:00.000Z',
        at_local: '2026-03-02 07:30:00',
        amount_cents: -1250,
        big_cents: 9007199254740993n,
        share_cents: 5,
        share: 'x',
        mixed: '2026-03-02',
      },
      { day: null, at: null, at_local: null, amount_cents: 7, big_cents: 1n, share_cents: null, share: '', mixed: 4.5 },
    ];
    expect(await readBack(rows, { folder: folder(), columns, zone: 'America/Denver' })).toEqual([
      ['day', 'at (America/Denver)', 'at_local', 'amount', 'big_cents', 'share_cents', 'share', 'mixed'],
      [
        new Date('2026-03-02T00:00:00Z'),
        new Date('2026-03-02T07:30:00Z'),
        new Date('2026-03-02T07:30:00Z'),
        -12.5,
        '9007199254740993',
        5,
        'x',
        '2026-03-02',
      ],
      [null, null, null, 0.07, 1, null, null, 4.5],
    ]);
    expect(await readBack([], { folder: folder(), columns })).toEqual([
      ['day', 'at', 'at_local', 'amount', 'big', 'share_cents', 'share', 'mixed'],
    ]);
  });
});
