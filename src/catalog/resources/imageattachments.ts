import { asyncOperation, filterKeys, key, resource } from '../define.ts';
import { link } from '../fields/composites.ts';
import { id, integer } from '../fields/numbers.ts';
import { line, typeName } from '../fields/text.ts';
import { date, dateTime } from '../fields/times.ts';
import { idValue } from '../filter/values.ts';
import { EQUALS_IN } from '../operators.ts';
import { readOnly } from '../record.ts';

/** Image attached to an insurance claim (D29). */
export const imageAttachmentFields = {
  id: readOnly(id(), 'Attachment id'),
  type: readOnly(typeName('ImageAttachmentV1'), 'Always ImageAttachmentV1'),
  examId: readOnly(id(), 'Exam id'),
  examImageId: readOnly(id(), 'Image id within the exam'),
  examName: readOnly(line(), 'Name of the exam'),
  examDate: readOnly(date(), 'Date of the exam'),
  examImageOutputFormat: readOnly(line(), 'Image format'),
  examImageSizeInBytes: readOnly(integer({ min: 0 }), 'Bytes'),
  attachmentType: readOnly(line(), 'Kind of attachment'),
  attachedDate: readOnly(dateTime(), 'When it was attached'),
  dateCreated: readOnly(dateTime(), 'When it was created'),
  neaNumber: readOnly(line(), 'NEA number'),
  insuranceClaim: readOnly(link('InsuranceClaim'), 'Insurance claim'),
  lastModified: readOnly(dateTime(), 'Last change'),
} as const;

export const imageAttachmentFilters = filterKeys({
  id: key(EQUALS_IN, idValue, 'Attachment ids', { flags: { id: '->' } }),
  'insuranceClaim.id': key(EQUALS_IN, idValue, 'Insurance claim', { flags: { claim: '->' }, index: 'plain' }),
});

export const imageAttachments = resource({
  name: 'imageattachments',
  type: 'ImageAttachmentV1',
  one: 'image attachment',
  many: 'image attachments',
  about: 'Images attached to insurance claims',
  fields: imageAttachmentFields,
  locatedBy: ['insuranceClaim'],
  filters: imageAttachmentFilters,
  tableColumns: ['id', 'examName', 'examDate', 'attachmentType', 'insuranceClaim.id'],
  operations: {
    async: asyncOperation('/imageattachments/async', {
      summary: 'First image attachments, all of them on the streaming channel',
      filters: imageAttachmentFilters,
      fields: imageAttachmentFields,
    }),
  },
});
