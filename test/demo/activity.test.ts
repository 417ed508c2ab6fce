import { describe, expect, it } from 'vitest';
import type { DemoRecord } from '../../src/demo/practice.ts';
import { demoActivity } from '../../src/demo/records.ts';
import { digest, fieldsOf, groups, NOW, problemsOf, smallPractice, TODAY } from './smallpractice.ts';

const { all, of } = smallPractice();
const plans = ['previous', 'current'].flatMap((prefix) => [
  `${prefix}_benefitYear`,
  ...['basic', 'preventive', 'major', 'ortho'].flatMap((category) => [
    `${prefix}_${category}IndividualLifetimeDeductibleMet`,
    `${prefix}_${category}IndividualAnnualDeductibleMet`,
  ]),
  `${prefix}_maximumIndividualAnnualBenefitUsed`,
  `${prefix}_maximumOrthoLifetimeBenefitUsed`,
]);

const words = (text: string) => text.trim().split(/\s+/);

/** Wire names of the specification and D23–D31; those that may be left out stand after the bar. */
const WIRE: Readonly<Record<string, readonly [always: string[], sometimes: string[]]>> = {
  TransactionTagV1: [words('tagText tagType isPredefined'), []],
  Transaction: [
    words(`ledgerType amount ownership transactionDate entryDate lastModified isAutomaticallyPosted isActive
      isPartialPayment patient location provider`),
    words(`note metBasic metPreventive metMajor metOrtho previousTransaction replacedByTransaction organizationLedgerType
      patientProcedure insuranceClaim insurancePayment transactionTags reasonTags patientPaymentBilling distributions estimate`),
  ],
  AppointmentV1: [
    words(`start end duration status patient provider operatory location asap needsFollowUp note other bookedOnline
      bookingType reason created confirmed lastModified`),
    ['production'],
  ],
  AppointmentHistoryV1: [
    words('appointment patient provider operatory location start duration status note action created lastModified'),
    ['user'],
  ],
  MissedAppointmentV1: [
    words(`appointment start duration status operatory provider patient location other procedures cancelledOn
      reasonCancelled rescheduledOn note`),
    [],
  ],
  PatientInsurancePlanV1: [
    words(`patient subscriberInsurancePlan startDate endDate relationshipToSubscriber eligible note eligibilityCheckType
      responsibilities confirmedDate lastModified ${plans.join(' ')}`),
    [],
  ],
  EventV1: [
    words(`title description start end duration allDay color lastModified groupId location operatory provider
      recurrenceType recurrenceStart recurrenceEnd recurrenceFrequency recurrenceDays recurrenceWeek recurrenceDay`),
    [],
  ],
  ImageAttachmentV1: [
    words(`examId examImageId examName examDate examImageOutputFormat examImageSizeInBytes attachmentType attachedDate
      dateCreated neaNumber insuranceClaim lastModified`),
    [],
  ],
  ScheduleTemplateReasonV1: [words('reason durationMinutes location'), []],
  ScheduleTemplateV1: [
    words('location operatory provider dayOfWeek start end bookingTypes reasons validFrom'),
    ['validTo'],
  ],
  InsuranceClaim: [words('patient status'), []],
};

const TARGETS: Readonly<Record<string, string>> = {
  patient: 'PatientV1',
  location: 'Location',
  provider: 'Provider',
  operatory: 'Operatory',
  appointment: 'AppointmentV1',
  reason: 'ScheduleTemplateReasonV1',
  insuranceClaim: 'InsuranceClaim',
  previousTransaction: 'Transaction',
  replacedByTransaction: 'Transaction',
};

const activity = all.filter(({ type }) => type in WIRE);

describe('the activity of the small practice', () => {
  it('has every kind, in volumes of a practice this size', () => {
    const counts = groups(activity, ({ type }) => type);
    expect([...counts.keys()].sort()).toEqual(Object.keys(WIRE).sort());
    const between = (type: string, low: number, high: number) => {
      expect(counts.get(type)?.length, type).toBeGreaterThan(low);
      expect(counts.get(type)?.length, type).toBeLessThan(high);
    };
    between('Transaction', 10_000, 18_000);
    between('AppointmentV1', 3_000, 6_000);
    between('MissedAppointmentV1', 300, 900);
  });

  it('uses the wire names and no others', () => {
    const wrong = activity.flatMap((record) => {
      const [always, sometimes] = WIRE[record.type]!;
      const names = Object.keys(record).filter((name) => !['type', 'organizationId', 'id'].includes(name));
      const missing = always.filter((name) => !names.includes(name));
      const unknown = names.filter((name) => !always.includes(name) && !sometimes.includes(name));
      return [...missing, ...unknown].map((name) => `${record.type} ${record.id}: ${name}`);
    });
    expect(wrong).toEqual([]);
  });

  it('is read without a problem by the catalog, where the catalog has the kind', () => {
    const wrong = activity
      .filter(({ type }) => fieldsOf(type) !== undefined)
      .flatMap((record) =>
        problemsOf(record, ['production', 'estimate']).map((problem) => `${record.type} ${record.id}: ${problem}`),
      );
    expect(wrong).toEqual([]);
  });

  it('links only to records of the practice', () => {
    const known = new Set(all.map(({ type, id }) => `${type} ${id}`));
    const targets = activity.flatMap((record) => linksIn(record));
    expect(targets.length).toBeGreaterThan(50_000);
    expect(targets.filter((target) => !known.has(target))).toEqual([]);
  });

  it('gives each kind ascending ids that no other kind has', () => {
    for (const [type, records] of groups(activity, (record) => record.type)) {
      const ids = records.map(({ id }) => id as number);
      expect(ids, type).toEqual([...new Set(ids)].sort((a, b) => a - b));
    }
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
  });

  it('has nothing that was done after the start of today', () => {
    const done = ['lastModified', 'created', 'entryDate', 'confirmed', 'cancelledOn', 'rescheduledOn', 'attachedDate'];
    const late = activity.flatMap((record) =>
      done
        .filter((name) => ((record[name] as string | null) ?? '') >= NOW)
        .map((name) => `${record.type} ${record.id}: ${name}`),
    );
    expect(late).toEqual([]);
    expect(of('Transaction').every(({ transactionDate }) => (transactionDate as string) < TODAY)).toBe(true);
  });
});

function linksIn(record: DemoRecord): string[] {
  const single = Object.entries(record).flatMap(([name, value]) => {
    const target = TARGETS[name];
    return target === undefined || value === null || typeof value !== 'object'
      ? []
      : [`${target} ${(value as { id: number }).id}`];
  });
  const list = (name: string) =>
    Object.values((record[name] ?? {}) as Record<string, { id: number; chargeId: number }>);
  return [
    ...single,
    ...list('reasons').map(({ id }) => `ScheduleTemplateReasonV1 ${id}`),
    ...[...list('transactionTags'), ...list('reasonTags')].map(({ id }) => `TransactionTagV1 ${id}`),
    ...list('distributions').map(({ chargeId }) => `Transaction ${chargeId}`),
  ];
}

describe('demoActivity', () => {
  it('gives the same for the same seed and date, byte for byte', () => {
    const again = (seed?: number) => demoActivity('small', { today: TODAY, ...(seed !== undefined && { seed }) });
    expect(digest(again())).toBe(digest(activity));
    expect(digest(again(5), 2_000)).not.toBe(digest(activity, 2_000));
  });

  it.each(['medium', 'large'] as const)('starts %s without making it whole', (size) => {
    let count = 0;
    for (const record of demoActivity(size, { today: TODAY })) {
      if (record.type === 'Transaction' && ++count === 100) break;
    }
    expect(count).toBe(100);
  });
});
