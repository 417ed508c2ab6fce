import type { Operation } from './operation.ts';
import { PATIENT_VALUES } from './practice.ts';
import type { Writer } from './writer.ts';

/** Writes of patients, tags and documents: each changes one record. */

export function createPatient(writer: Writer): Operation {
  const values = { ...PATIENT_VALUES, firstName: writer.word('Pat'), lastName: 'Writer' };
  return writer.post('patients.create', '/patients', values, {
    expected: [{ verb: 'create', table: 'patients', has: { firstName: values.firstName } }],
    done: (record) => writer.keep('patients', record),
  });
}

export function updatePatient(writer: Writer): Operation | undefined {
  const patient = writer.any('patients');
  if (patient === undefined) return undefined;
  const { id } = patient;
  const changes = writer.random.of<Record<string, unknown>>([
    { city: writer.word('City') },
    {
      phones: [{ phoneType: 'HOME', number: `(801) 555-${writer.random.between(1000, 9999)}`, sequence: 1 }],
      city: writer.word('C'),
    },
  ]);
  return writer.put('patients.update', `/patients/${id}`, changes, {
    expected: [{ verb: 'update', table: 'patients', id, has: { city: changes.city } }],
    done: (record) => writer.keep('patients', record),
  });
}

export function createTag(writer: Writer): Operation {
  const values = { tagText: writer.word('Tag'), isPredefined: false, tagType: 'PAYMENT_TAG' };
  return writer.post('tags.create', '/transactiontags', values, {
    expected: [{ verb: 'create', table: 'transactiontags', has: values }],
    done: (record) => writer.keep('transactiontags', record),
  });
}

export function updateTag(writer: Writer): Operation | undefined {
  const tag = writer.any('transactiontags');
  if (tag === undefined) return undefined;
  const values = { tagText: writer.word('Tag') };
  return writer.put('tags.update', `/transactiontags/${tag.id}`, values, {
    expected: [{ verb: 'update', table: 'transactiontags', id: tag.id, has: values }],
    done: (record) => writer.keep('transactiontags', record),
  });
}

export function deleteTag(writer: Writer): Operation | undefined {
  const tag = writer.take('transactiontags');
  if (tag === undefined) return undefined;
  return writer.delete('tags.delete', `/transactiontags/${tag.id}`, [
    { verb: 'delete', table: 'transactiontags', id: tag.id },
  ]);
}

export function uploadDocument(writer: Writer): Operation {
  const { content, ...body } = writer.upload();
  const name = writer.word('doc');
  const tags = Array.from({ length: writer.random.below(3) }, (_, at) => `w${writer.number} tag ${at}`);
  const owner = writer.random.next() < 0.5 ? {} : { ownerPatient: { id: writer.patient() } };
  return writer.post(
    'documents.create',
    '/documents',
    { ...body, ...owner, name, tags },
    {
      expected: [{ verb: 'create', table: 'documents', has: { mimeType: body.mimeType, tags } }],
      content,
      done: (record) => writer.keep('documents', record),
    },
  );
}

export function updateDocument(writer: Writer): Operation | undefined {
  const document = writer.any('documents');
  if (document === undefined) return undefined;
  const { id } = document;
  const tags = [writer.word('t')];
  return writer.put(
    'documents.update',
    `/documents/${id}`,
    { tags },
    {
      expected: [{ verb: 'update', table: 'documents', id, has: { tags } }],
      done: (record) => writer.keep('documents', record),
    },
  );
}

export function deleteDocument(writer: Writer): Operation | undefined {
  const document = writer.take('documents');
  if (document === undefined) return undefined;
  return writer.delete('documents.delete', `/documents/${document.id}`, [
    { verb: 'delete', table: 'documents', id: document.id },
  ]);
}
