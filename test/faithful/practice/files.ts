import { extensionOf, IMAGES } from '../mimetypes.ts';
import type { Maker } from './maker.ts';

const HEADS: Readonly<Record<string, Buffer>> = {
  PDF: Buffer.from('%PDF-1.4\n'),
  PNG: Buffer.from('89504e470d0a1a0a', 'hex'),
  JPEG: Buffer.from('ffd8ffe000104a464946', 'hex'),
};

/** Adds documents with content, owned by the organization or by patients. */
export function makeDocuments(maker: Maker, count: number): void {
  for (let index = 0; index < count; index++) makeDocument(maker, index);
}

function makeDocument(maker: Maker, index: number): void {
  const { draws, practice, moods } = maker;
  const mimeType = draws.one(['PDF', 'PNG', 'JPEG']);
  const guidName = `file-${index}-${draws.whole(1e6, 9e6)}`;
  const patient = draws.chance(0.7) ? maker.linkTo('patients') : null;
  practice.files.set(guidName, Buffer.concat([HEADS[mimeType] as Buffer, Buffer.from(`content ${index}`)]));
  maker.add('documents', {
    name: `Document ${index}.${extensionOf(mimeType, moods)}`,
    mimeType,
    guidName,
    thumbNailId: IMAGES.includes(mimeType) ? `${guidName}-thumbnail` : null,
    ownerType: patient ? 'Patient' : 'Organization',
    ownerOrganization: patient ? null : { id: practice.organization },
    ownerPatient: patient,
    ownerPerioExam: null,
    tags: draws.chance(0.5) ? ['Consent'] : [],
    userDefinedDate: maker.maybe(maker.day()),
    type: 'DocumentV1',
  });
}

/** Adds images attached to insurance claims. */
export function makeImages(maker: Maker, count: number): void {
  for (let index = 0; index < count; index++) {
    maker.add('imageattachments', { insuranceClaim: { id: maker.draws.whole(1e9, 9e9) }, name: `Image ${index}` });
  }
}
