import { type Called, rowOf, type WireRecord } from '../../support/calls.ts';
import { PDF } from '../../support/files.ts';
import type { TestService } from '../../support/service.ts';

/** POST of a document; a PDF of the organization unless the body says otherwise. */
export function post(service: TestService, body: WireRecord = {}): Promise<Called> {
  return service.call('POST', '/documents', {
    body: { name: 'paper', mimeType: 'PDF', file: { content: PDF }, ...body },
  });
}

/** The document that a POST made. */
export async function posted(service: TestService, body: WireRecord = {}): Promise<WireRecord> {
  const called = await post(service, body);
  if (called.status !== 201) throw new Error(called.text);
  return rowOf(called);
}

export function put(service: TestService, id: unknown, body: WireRecord): Promise<Called> {
  return service.call('PUT', `/documents/${id}`, { body });
}

/** Download links of a document. */
export function linksOf(document: WireRecord): Readonly<Record<string, string>> {
  return document.storage as Readonly<Record<string, string>>;
}
