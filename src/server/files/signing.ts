import { createHmac, timingSafeEqual } from 'node:crypto';
import { VARIANTS } from '../../catalog/resources/documents.ts';
import type { RenderContext } from '../resources/behaviour.ts';

/** How long a download link is valid (D38). */
export const LINK_SECONDS = 15 * 60;

/** What a download link leads to; the signature covers all of it. */
export interface SignedFile {
  readonly organization: string;
  readonly document: number;
  readonly variant: string;
  /** Unix seconds. */
  readonly expires: number;
}

/** The signature of a link, base64url of an HMAC with the server's key. */
export function signatureOf(file: SignedFile, key: Buffer): string {
  const text = [file.organization, file.document, file.variant, file.expires].join('\n');
  return createHmac('sha256', key).update(text).digest('base64url');
}

/** Whether a signature is that of the link, compared in constant time. */
export function isSigned(file: SignedFile, signature: string, key: Buffer): boolean {
  const expected = Buffer.from(signatureOf(file, key));
  const given = Buffer.from(signature);
  return expected.length === given.length && timingSafeEqual(expected, given);
}

/** Fresh absolute links for the variants that exist, in the order of the specification. */
export function variantUrls(
  context: RenderContext,
  document: number,
  variants: readonly string[],
): Record<string, string> {
  const { service, organization, baseUrl } = context;
  const expires = Math.floor(service.clock() / 1000) + LINK_SECONDS;
  const existing = VARIANTS.filter((variant) => variants.includes(variant));
  return Object.fromEntries(
    existing.map((variant) => {
      const signature = signatureOf({ organization: organization.id, document, variant, expires }, service.signingKey);
      const query = `expires=${expires}&signature=${signature}`;
      return [variant, `${baseUrl}/files/${organization.id}/documents/${document}/${variant}?${query}`];
    }),
  );
}
