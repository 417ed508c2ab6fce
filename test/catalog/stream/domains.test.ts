import { describe, expect, it } from 'vitest';
import { RESOURCES } from '../../../src/catalog/catalog.ts';
import { LEDGER_TYPES } from '../../../src/catalog/resources/transactions.ts';
import { DOMAIN_TYPES, locationFieldOf, publishedOperations } from '../../../src/catalog/stream/domains.ts';

describe('domain types', () => {
  it('are those of the specification and of D40', () => {
    expect([...DOMAIN_TYPES].sort()).toEqual([
      'AppointmentHistoryV1',
      'AppointmentV1',
      'DocumentV1',
      'EventV1',
      'ImageAttachmentV1',
      'LocationProductionNetScheduleV1',
      'MissedAppointmentV1',
      'PatientInsurancePlanV1',
      'PatientV1',
      'ScheduleTemplateReasonV1',
      'TransactionTagV1',
      'TransactionV1',
    ]);
  });
});

it('the place of a record on the stream is that of its own location, of a patient the preferred one (D40)', () => {
  const places = RESOURCES.filter(({ computed }) => !computed).map((each) => [each.type, locationFieldOf(each)]);
  expect(Object.fromEntries(places)).toEqual({
    PatientV1: 'preferredLocation',
    AppointmentV1: 'location',
    AppointmentHistoryV1: 'location',
    MissedAppointmentV1: 'location',
    Transaction: 'location',
    EventV1: 'location',
    ScheduleTemplateReasonV1: 'location',
    DocumentV1: undefined,
    ImageAttachmentV1: undefined,
    PatientInsurancePlanV1: undefined,
    TransactionTagV1: undefined,
  });
});

describe('what is told of transactions (specification, Events: transaction sub-types)', () => {
  it.each([
    ['PatientChargeAdjustment', ['CREATE', 'UPDATE']],
    ['PatientCreditAdjustment', ['CREATE', 'UPDATE', 'DELETE']],
    ['InsurancePayment', ['CREATE']],
    ['PatientProcedurePayment', ['CREATE']],
    ['PatientProcedureLedger', ['CREATE', 'DELETE']],
    ['InsuranceRefundAdjustment', ['CREATE', 'UPDATE', 'DELETE']],
    ['PatientCreditCardRefund', ['CREATE', 'UPDATE', 'DELETE']],
    ['PatientCreditCardVoid', ['CREATE', 'UPDATE', 'DELETE']],
  ])('%s: %j', (ledgerType, operations) => {
    expect(LEDGER_TYPES).toContain(ledgerType);
    expect(publishedOperations(ledgerType)).toEqual(operations);
  });

  it('does not limit other records', () => {
    expect(publishedOperations(undefined)).toEqual(['CREATE', 'UPDATE', 'DELETE']);
  });
});
