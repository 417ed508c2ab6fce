import { anything, integer, link, listOf, numeric, object, readBody, string } from '../bodies.ts';
import { type Bulk, count, list, single } from '../bulk.ts';
import { type Call, change, create, type Reply, type Route, recordOf } from '../call.ts';
import { contentOf, named, ownerOf, taggedAs } from '../documents.ts';
import { EQUAL } from '../filter.ts';
import { documentsMeta } from '../meta.ts';
import { IMAGES, normalizedType } from '../mimetypes.ts';
import { refuse } from '../refusal.ts';
import { project, readFields } from '../responsefields.ts';
import type { Fields } from '../store.ts';
import { id, text, type ValueKind } from '../values.ts';

const lowerCase: ValueKind = {
  read: (written, key) => String(text.read(written, key)).toLowerCase(),
  of: (value) => String(value).toLowerCase(),
};

const DOCUMENTS: Bulk = {
  resource: 'documents',
  keys: {
    'ownerOrganization.id': { operators: EQUAL, kind: text },
    'ownerPatient.id': { operators: EQUAL, kind: id },
    'ownerPerioExam.id': { operators: EQUAL, kind: id },
    tags: { operators: ['->'], kind: lowerCase },
  },
  maximum: 500,
  fields: [
    'id',
    'name',
    'mimeType',
    'guidName',
    'thumbNailId',
    'ownerType',
    'ownerOrganization',
    'ownerPatient',
    'ownerPerioExam',
    'tags',
    'userDefinedDate',
    'storage',
    'type',
  ],
  meta: documentsMeta,
  show: withStorage,
};

const NAME = string(1, 70);
const TAGS = listOf(string(1, 50));
const CROP = ['fromX', 'fromY', 'width', 'height'] as const;

const FILE = object(
  {
    content: string(1),
    ...Object.fromEntries(CROP.map((name) => [name, integer(0, 1e6)])),
    ratio: numeric,
  },
  ['content'],
);

export const DOCUMENT_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/documents',
    query: ['filter', 'responseFields', 'pageSize', 'lastId'],
    answer: (call) => list(DOCUMENTS, call),
  },
  {
    method: 'GET',
    path: '/documents/totalcount',
    query: ['filter'],
    answer: (call) => count(DOCUMENTS, call, 'totalCount'),
  },
  {
    method: 'GET',
    path: '/documents/{documentId}',
    query: ['responseFields'],
    answer: (call) => single(DOCUMENTS, call, 'documentId'),
  },
  { method: 'POST', path: '/documents', query: [], answer: upload },
  { method: 'PUT', path: '/documents/{documentId}', query: ['responseFields'], answer: rename },
  { method: 'DELETE', path: '/documents/{documentId}', query: [], answer: remove },
];

function upload(call: Call): Reply {
  const { world } = call;
  const sent = readBody(
    call.body,
    {
      name: NAME,
      mimeType: string(),
      file: FILE,
      ownerOrganization: anything,
      ownerPatient: link,
      ownerPerioExam: link,
      tags: TAGS,
    },
    ['name', 'mimeType', 'file'],
  );
  const mimeType = normalizedType(sent.mimeType) ?? refuse(`mimeType takes a supported value, not ${sent.mimeType}.`);
  const file = sent.file as Fields;
  if (!IMAGES.includes(mimeType) && Object.keys(file).length > 1) refuse('file: only images are cropped.');
  const owner = ownerOf(call, sent);
  const guidName = `file-${world.clock()}-${world.draws.whole(1e9, 9e9)}`;
  const fields = {
    name: named(call, String(sent.name), mimeType, owner),
    mimeType,
    guidName,
    thumbNailId: IMAGES.includes(mimeType) ? `${guidName}-thumbnail` : null,
    ...owner,
    tags: taggedAs(world, (sent.tags ?? []) as string[]),
    userDefinedDate: null,
    type: 'DocumentV1',
  };
  world.practice.files.set(guidName, contentOf(String(file.content)));
  const { record } = create(world, 'documents', fields);
  return { status: 201, data: withStorage(record, call) };
}

function rename(call: Call): Reply {
  const { world } = call;
  const stored = recordOf(call, 'documents', 'documentId');
  const sent = readBody(call.body, { name: NAME, tags: TAGS });
  const { record } = change(world, 'documents', stored, {
    ...(sent.name === undefined
      ? {}
      : { name: named(call, String(sent.name), String(stored.record.mimeType), stored.record) }),
    ...(sent.tags === undefined ? {} : { tags: taggedAs(world, sent.tags as string[]) }),
  });
  return { data: project(withStorage(record, call), readFields(call, DOCUMENTS.fields)) };
}

function remove(call: Call): Reply {
  const { id, record } = recordOf(call, 'documents', 'documentId');
  call.world.practice.shelves.documents.remove(id);
  call.world.practice.files.delete(String(record.guidName));
  return { data: { id } };
}

function withStorage(record: Fields, { world }: Call): Fields {
  return { ...record, storage: { original: world.link(String(record.guidName)) } };
}
