import { ORGANIZATION, TOKEN } from '../molar.ts';

/** Speaks to a server of a scenario; throws for an answer that is none of success. */
export async function ask<T>(url: string, method: string, path: string, body?: object): Promise<T> {
  const headers = {
    authorization: `Bearer ${TOKEN}`,
    'organization-id': ORGANIZATION,
    ...(body !== undefined && { 'content-type': 'application/json' }),
  };
  const response = await fetch(`${url}/api/v1${path}`, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return (JSON.parse(text) as { data: T }).data;
}

export function makeTag(url: string, tagText: string): Promise<{ id: number }> {
  return ask(url, 'POST', '/transactiontags', { tagText, isPredefined: false, tagType: 'PAYMENT_TAG' });
}

/** The content of the document of a name: more than the buffers of one write take, and not the same as any other's. */
export function contentOf(name: string): Buffer {
  return Buffer.from(`%PDF-1.4\n${`${name} `.repeat(2000)}\n%%EOF\n`);
}

export function makeDocument(url: string, name: string): Promise<{ id: number }> {
  return ask(url, 'POST', '/documents', {
    name,
    mimeType: 'PDF',
    file: { content: contentOf(name).toString('base64') },
  });
}
