import { imageAttachments } from '../../../src/catalog/resources/imageattachments.ts';
import { patientInsurancePlans } from '../../../src/catalog/resources/patientinsuranceplans.ts';
import { scheduleTemplateReasons } from '../../../src/catalog/resources/scheduletemplatereasons.ts';
import type { WireRecord } from '../calls.ts';
import type { ResourceFixture } from '../fixture.ts';
import { big, CLAIMS, ELSEWHERE, LOCATIONS, PATIENTS } from '../ids.ts';

const link = (id: number) => ({ id });

function plan(n: number, patient: number, record: WireRecord): WireRecord {
  return {
    id: big(n),
    patient: link(patient),
    subscriberInsurancePlan: link(big(6500)),
    startDate: '2025-01-01',
    relationshipToSubscriber: 'SELF',
    lastModified: `2026-02-01T08:00:00.${String(n % 100).padStart(3, '0')}Z`,
    ...record,
  };
}

/** Patient insurance plans (specification, Patient insurance plan; D30). */
export const patientInsurancePlanFixture: ResourceFixture = {
  resource: patientInsurancePlans,
  records: [
    plan(651, PATIENTS.ann, {
      endDate: '2026-12-31',
      eligible: 'YES',
      note: 'Note',
      eligibilityCheckType: 'MANUAL',
      confirmedDate: '2026-01-02',
      responsibilities: [{ startDate: '2025-01-01', endDate: null, paymentResponsibilityOrder: 'PRIMARY' }],
      previous_benefitYear: 2025,
      previous_basicIndividualLifetimeDeductibleMet: 50.5,
      current_benefitYear: 2026,
      current_orthoIndividualAnnualDeductibleMet: 25,
      current_maximumIndividualAnnualBenefitUsed: 1200.75,
      current_maximumOrthoLifetimeBenefitUsed: 0,
    }),
    plan(652, PATIENTS.ann, { relationshipToSubscriber: 'SPOUSE' }),
    plan(653, PATIENTS.bob, { relationshipToSubscriber: 'CHILD', lastModified: '2024-05-05T05:05:05.005Z' }),
    plan(654, PATIENTS.cleo, { relationshipToSubscriber: 'OTHER' }),
  ],
  elsewhere: [plan(651, ELSEWHERE.patient, {}), plan(9651, ELSEWHERE.patient, {})],
  meta: 'others',
  countNames: ['totalCount', 'total'],
};

function reason(n: number, text: string, location: number = LOCATIONS.east): WireRecord {
  return { id: big(n), reason: text, durationMinutes: 30, location: link(location) };
}

/** Schedule template reasons (D31): the list is always for one location. */
export const scheduleTemplateReasonFixture: ResourceFixture = {
  resource: scheduleTemplateReasons,
  records: [reason(601, 'Cleaning'), reason(602, 'Crown'), reason(603, 'Exam'), reason(604, 'Filling')],
  elsewhere: [reason(601, 'Elsewhere', ELSEWHERE.location), reason(9601, 'Elsewhere too', ELSEWHERE.location)],
  meta: 'others',
  always: `location.id==${LOCATIONS.east}`,
};

function image(n: number, claim: number, record: WireRecord = {}): WireRecord {
  return {
    id: big(n),
    examName: `Exam ${n}`,
    insuranceClaim: link(claim),
    lastModified: '2026-02-01T08:00:00.000Z',
    ...record,
  };
}

/** Image attachments (D29). */
export const imageAttachmentFixture: ResourceFixture = {
  resource: imageAttachments,
  records: [
    image(751, CLAIMS.sent, {
      examId: big(1),
      examImageId: big(2),
      examDate: '2026-01-31',
      examImageOutputFormat: 'JPEG',
      examImageSizeInBytes: 123_456,
      attachmentType: 'XRAY',
      attachedDate: '2026-02-01T08:00:00.000Z',
      dateCreated: '2026-01-31T08:00:00.000Z',
      neaNumber: 'NEA-1',
    }),
    image(752, CLAIMS.sent),
    image(753, CLAIMS.paid),
  ],
  elsewhere: [image(751, ELSEWHERE.claim), image(9751, ELSEWHERE.claim)],
  meta: 'others',
};
