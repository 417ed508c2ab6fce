import {
  countOperation,
  createOperation,
  deleteOperation,
  filterKeys,
  getOperation,
  key,
  listOperation,
  resource,
  updateOperation,
} from '../define.ts';
import { link, list, object, organizationLink } from '../fields/composites.ts';
import { id, integer, number } from '../fields/numbers.ts';
import { choice, line, text, typeName } from '../fields/text.ts';
import { date } from '../fields/times.ts';
import { exactTextValue, idValue, tagValue } from '../filter/values.ts';
import { EQUALS, IN } from '../operators.ts';
import { DOCUMENT_PAGING } from '../paging.ts';
import { createOnly, inputOnly, optional, readOnly, required, requiredOnCreate } from '../record.ts';
import { documentName, mimeType } from './documentnames.ts';

/** `file` of a POST body. Crop values take effect only when all five are there (specification, Documents). */
export const fileFields = {
  content: required(text({ min: 1 }), 'The bytes of the file, base64-encoded'),
  fromX: optional(integer({ min: 0 }), 'Left edge of the crop, pixels'),
  fromY: optional(integer({ min: 0 }), 'Top edge of the crop, pixels'),
  width: optional(integer({ min: 1 }), 'Width of the crop, pixels'),
  height: optional(integer({ min: 1 }), 'Height of the crop, pixels'),
  ratio: optional(number({ above: 0 }), 'Scale applied after the crop'),
} as const;

export interface FileInput {
  readonly content: string;
  readonly fromX?: number | null;
  readonly fromY?: number | null;
  readonly width?: number | null;
  readonly height?: number | null;
  readonly ratio?: number | null;
}

/** The files of a document: `storage` has a download link for each that exists (specification, Document). */
export const VARIANTS = ['original', 'thumbnail', 'resized', 'cropped'] as const;

/** One of `VARIANTS`. */
export type Variant = (typeof VARIANTS)[number];

/** Document (specification, Document; D36–D38). */
export const documentFields = {
  id: readOnly(id(), 'Document id'),
  name: required(documentName(), 'File name, 1–70 characters; the extension follows from mimeType'),
  mimeType: requiredOnCreate(mimeType(), 'File type'),
  guidName: readOnly(line(), 'Storage identifier'),
  thumbNailId: readOnly(line(), 'Storage identifier of the thumbnail'),
  ownerType: readOnly(choice(['Organization', 'Patient', 'PerioExam']), 'Kind of owner'),
  ownerOrganization: createOnly(organizationLink(), 'Owning organization'),
  ownerPatient: createOnly(link('PatientV1'), 'Owning patient'),
  ownerPerioExam: createOnly(link('PerioExam'), 'Owning perio exam'),
  tags: optional(list(text({ min: 1, max: 50 })), 'Tags; an update replaces all of them'),
  userDefinedDate: createOnly(date(), 'A date of your own'),
  storage: readOnly(
    object({
      original: readOnly(text(), 'Download link'),
      thumbnail: readOnly(text(), 'Download link'),
      resized: readOnly(text(), 'Download link'),
      cropped: readOnly(text(), 'Download link'),
    }),
    'Download links, valid for 15 minutes',
  ),
  type: readOnly(typeName('DocumentV1'), 'Always DocumentV1'),
  file: inputOnly(object<FileInput>(fileFields), 'Content of the file'),
} as const;

export const documentFilters = filterKeys({
  'ownerOrganization.id': key(
    EQUALS,
    exactTextValue,
    'Owning organization: only documents the organization itself owns',
    {
      flags: { 'owner-organization': '==' },
    },
  ),
  'ownerPatient.id': key(EQUALS, idValue, 'Owning patient', { flags: { patient: '==' } }),
  'ownerPerioExam.id': key(EQUALS, idValue, 'Owning perio exam', { flags: { 'perio-exam': '==' } }),
  tags: key(IN, tagValue, 'Tags of the document', { flags: { tag: '->' } }),
});

export const documents = resource({
  name: 'documents',
  type: 'DocumentV1',
  one: 'document',
  many: 'documents',
  about: 'Files stored for the organization, a patient or a perio exam',
  fields: documentFields,
  locatedBy: ['ownerPatient', 'ownerPerioExam'],
  filters: documentFilters,
  tableColumns: ['id', 'name', 'mimeType', 'ownerType', 'ownerPatient.id', 'tags', 'userDefinedDate'],
  operations: {
    list: listOperation('/documents', {
      summary: 'List documents',
      filters: documentFilters,
      paging: DOCUMENT_PAGING,
      fields: documentFields,
    }),
    count: countOperation('/documents/totalcount', {
      summary: 'Count documents',
      filters: documentFilters,
      countNames: ['totalCount'],
    }),
    get: getOperation('/documents/{documentId}', { summary: 'Show one document', fields: documentFields }),
    create: createOperation('/documents', {
      summary: 'Store a document',
      fields: documentFields,
      body: documentFields,
      largeBody: true,
    }),
    update: updateOperation('/documents/{documentId}', {
      summary: 'Rename a document or replace its tags',
      fields: documentFields,
      body: documentFields,
    }),
    delete: deleteOperation('/documents/{documentId}', { summary: 'Delete a document and its file' }),
  },
});
