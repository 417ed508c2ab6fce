import { dateText, instantText, utcStart } from '../calendar.ts';
import type { Practice } from '../practice.ts';
import type { Random } from '../random.ts';
import type { DemoRecord } from '../record.ts';
import type { Claim } from './claims.ts';

const PICTURES = [
  { examName: 'Bitewing X-ray', attachmentType: 'RADIOGRAPH', format: 'JPEG' },
  { examName: 'Periapical X-ray', attachmentType: 'RADIOGRAPH', format: 'PNG' },
  { examName: 'Intraoral photo', attachmentType: 'PHOTO', format: 'JPEG' },
] as const;

/** A claim, and the pictures sent with it: always for major work, seldom otherwise (D29). */
export function* claimRecords(practice: Practice, claim: Claim, random: Random): Generator<DemoRecord> {
  const { organizationId, ids } = practice;
  const { id, person, status } = claim;
  yield { type: 'InsuranceClaim', organizationId, id, patient: { id: person.id }, status };
  const pictures = claim.major ? random.between(1, 2) : random.chance(0.03) ? 1 : 0;
  for (let count = 0; count < pictures; count++) {
    const picture = random.pick(PICTURES);
    const attachment = ids.next('ImageAttachmentV1');
    const attached = utcStart(claim.day) + random.between(18 * 60, 23 * 60) * 60_000;
    yield {
      type: 'ImageAttachmentV1',
      organizationId,
      id: attachment,
      examId: attachment * 2,
      examImageId: attachment * 2 + 1,
      examName: picture.examName,
      examDate: dateText(claim.day),
      examImageOutputFormat: picture.format,
      examImageSizeInBytes: random.between(24_000, 900_000),
      attachmentType: picture.attachmentType,
      attachedDate: instantText(attached),
      dateCreated: instantText(attached),
      neaNumber: `${random.between(100_000_000, 999_999_999)}`,
      insuranceClaim: { id },
      lastModified: instantText(attached),
    };
  }
}
