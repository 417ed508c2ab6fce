import { describe, expect, it } from 'vitest';
import { entryName, quoted, singularOf, snakeCase, tableNameOf } from '../../../src/core/mirror/names.ts';
import { findTable, MIRROR_TABLES } from '../../../src/core/mirror/tables.ts';
import { localZones, zonesText } from '../../../src/core/mirror/zones.ts';
import { Names } from '../../../src/core/names/namesfile.ts';
import { TABLES } from './oracle.ts';

describe('names in a mirror', () => {
  it.each([
    ['firstName', 'first_name'],
    ['address1', 'address1'],
    ['current_basicIndividualAnnualDeductibleMet', 'current_basic_individual_annual_deductible_met'],
    ['examImageSizeInBytes', 'exam_image_size_in_bytes'],
    ['xml:lang', 'xml_lang'],
    ['hasHTTPLink', 'has_http_link'],
    ['neaID2Number', 'nea_id2_number'],
    ['Ä-- b', '_b'],
  ])('the field %s is the column %s', (field, column) => {
    expect(snakeCase(field)).toBe(column);
  });

  it('of tables and entries are those of the contract', () => {
    expect(Object.fromEntries(MIRROR_TABLES.map(({ resource, name }) => [resource.name, name]))).toEqual(TABLES);
    expect([singularOf('PatientInsurancePlanV1'), singularOf('ImageV12'), singularOf('V2Plan')]).toEqual([
      ...['patient_insurance_plan', 'image', 'v2_plan'],
    ]);
    expect([tableNameOf({ type: 'CategoryV1' }), tableNameOf({ type: 'Year' })]).toEqual(['categories', 'years']);
    expect(['phones', 'responsibilities', 'status', 'billingTypes'].map(entryName)).toEqual([
      ...['phone', 'responsibility', 'statu', 'billing_type'],
    ]);
    expect([findTable('transactiontags'), findTable('transaction_tags')].map((table) => table?.name)).toEqual([
      ...['transaction_tags', 'transaction_tags'],
    ]);
    expect(findTable('tags')).toBeUndefined();
    expect(quoted('a"b')).toBe('"a""b"');
  });

  it('of lists have the columns of the contract', () => {
    const lists = MIRROR_TABLES.flatMap(({ children }) =>
      children.map(({ name, parentKey, columns }) => [
        `${name} ${parentKey}`,
        columns.map((column) => `${column.name} ${column.type}`).join(', '),
      ]),
    );
    expect(Object.fromEntries(lists)).toEqual({
      'patient_phones patient_id': 'phone_id integer, phone_type text, number text, extension text, sequence integer',
      'patient_billing_types patient_id': 'billing_type_id integer',
      'patient_referred_patients patient_id': 'referred_patient_id integer',
      'document_tags document_id': 'tag text',
      'transaction_distributions transaction_id': 'charge_id integer, applied_amount_cents cents, is_active boolean',
      'transaction_transaction_tags transaction_id': 'key text, transaction_tag_id integer',
      'transaction_reason_tags transaction_id': 'key text, transaction_tag_id integer',
      'event_recurrence_days event_id': 'recurrence_day text',
      'patient_insurance_plan_responsibilities patient_insurance_plan_id':
        'start_date date, end_date date, payment_responsibility_order text',
    });
  });

  it('tell what a column is of, and where its link leads', () => {
    const columns = MIRROR_TABLES.flatMap((table) =>
      [...table.columns, ...table.children.flatMap((child) => child.columns)].map((column) => ({ table, ...column })),
    );
    const found = (name: string) => {
      const { type, field, path, references, isLink } =
        columns.find((each) => `${each.table.name}.${each.name}` === name) ?? {};
      return { type, field, path: path?.join('.'), references, isLink };
    };
    expect(found('patients.preferred_location_id')).toEqual({
      ...{
        type: 'integer',
        field: 'preferredLocation.id',
        path: 'preferredLocation.id',
        references: undefined,
        isLink: true,
      },
    });
    expect(found('transactions.patient_id')).toMatchObject({ type: 'integer', references: 'patients', isLink: true });
    expect(found('transactions.patient_payment_billing_check_number')).toEqual({
      ...{ type: 'text', field: 'patientPaymentBilling.checkNumber', path: 'patientPaymentBilling.checkNumber' },
      ...{ references: undefined, isLink: undefined },
    });
    expect(found('patients.referred_patient_id')).toMatchObject({
      ...{ type: 'integer', field: 'referredPatients.id', path: 'id', references: 'patients', isLink: true },
    });
    expect(found('patients.phone_id')).toMatchObject({ type: 'integer', field: 'phones.id', path: 'id' });
    expect(found('transactions.key')).toMatchObject({ type: 'text', field: 'transactionTags key', path: '' });
    expect(found('documents.owner_organization_id')).toMatchObject({ type: 'text' });
    expect(found('patients.date_of_birth')).toMatchObject({ type: 'date' });
    expect(found('patients.last_modified')).toMatchObject({ type: 'instant' });
    expect(columns.filter(({ name, path }) => [name, ...path].includes('storage'))).toEqual([]);
    // Each says something, the parts of an object also whose they are.
    expect(columns.filter(({ about }) => about === '')).toEqual([]);
    const { about } = columns.find(({ name }) => name === 'patient_payment_billing_bank_number') ?? {};
    expect(about).toMatch(/^\w[\w ]*: [a-z]/);
  });
});

describe('the zones of local times', () => {
  const location = (id: string, timezone = '') => ({
    ...{ kind: 'location' as const, id, name: `Office ${id}`, timezone, order: null },
  });

  it('are those of the locations that have one, and another one elsewhere', () => {
    const names = new Names([location('7', 'America/Denver'), location('8'), location('9', 'Europe/Berlin')]);
    const zones = localZones(names, { zone: 'Asia/Tokyo', origin: 'computer' });
    expect(zones).toEqual({
      locations: [
        ['7', 'America/Denver'],
        ['9', 'Europe/Berlin'],
      ],
      ...{ zone: 'Asia/Tokyo', isComputers: true },
    });
    expect(zonesText(zones)).toBe(
      'Local times are those of each location: location 7 America/Denver, location 9 Europe/Berlin; elsewhere Asia/Tokyo, the time zone of the computer that made it.',
    );
    const named = localZones(new Names([]), { zone: 'Asia/Tokyo', origin: 'named' });
    expect(zonesText(named)).toBe('Local times are those of Asia/Tokyo.');
  });
});
