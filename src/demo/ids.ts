/** First id of each kind: 13 or 14 digits as seen in the wild (D1), far enough apart for the largest practice. */
export const FIRST_ID = {
  Location: 1_000_000_000_001,
  Provider: 1_100_000_000_001,
  Operatory: 1_200_000_000_001,
  BillingType: 1_300_000_000_001,
  DiscountPlan: 1_400_000_000_001,
  Referral: 1_500_000_000_001,
  PerioExam: 1_600_000_000_001,
  ScheduleTemplateReasonV1: 1_700_000_000_001,
  ScheduleTemplateV1: 1_800_000_000_001,
  TransactionTagV1: 1_900_000_000_001,
  InsuranceClaim: 2_000_000_000_001,
  PatientInsurancePlanV1: 2_100_000_000_001,
  SubscriberInsurancePlan: 2_200_000_000_001,
  PatientProcedure: 2_300_000_000_001,
  InsurancePayment: 2_400_000_000_001,
  EventV1: 3_000_000_000_001,
  ImageAttachmentV1: 3_100_000_000_001,
  MissedAppointmentV1: 3_200_000_000_001,
  AppointmentV1: 5_000_000_000_001,
  PatientV1: 7_000_000_000_001,
  DocumentV1: 8_000_000_000_001,
  Transaction: 9_000_000_000_001,
  AppointmentHistoryV1: 10_000_000_000_001,
} as const;

export type NumberedKind = keyof typeof FIRST_ID;

/** Gives each kind's ids in ascending order. */
export class Ids {
  readonly #next = new Map<NumberedKind, number>();

  next(kind: NumberedKind): number {
    const id = this.#next.get(kind) ?? FIRST_ID[kind];
    this.#next.set(kind, id + 1);
    return id;
  }
}
