import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto';
import { refusal } from '../../catalog/failures.ts';
import { VARIANTS } from '../../catalog/resources/documents.ts';
import type { RenderContext } from '../resources/behaviour.ts';
import type { Service } from '../service.ts';
import { CLOCK_SECONDS, LINK_SECONDS, type LinkKey } from './linkkeys.ts';

/** The stored file that a download link leads to. */
interface LinkedFile {
  readonly organization: string;
  readonly document: number;
  readonly variant: string;
}

/** What a link says besides; the signature covers all of it. */
interface LinkTerms {
  /** Unix seconds. */
  readonly expires: number;
  /** Id of the key. */
  readonly key: string;
  /** Who was given the link, encrypted. */
  readonly holder: string;
}

/** The signature of a link, base64url of an HMAC. */
function signatureOf(file: LinkedFile, terms: LinkTerms, key: LinkKey): string {
  const text = [file.organization, file.document, file.variant, terms.expires, terms.key, terms.holder].join('\n');
  return createHmac('sha256', key.sign).update(text).digest('base64url');
}

/** Fresh absolute links for the variants that exist, in the order of the specification. */
export function variantUrls(
  context: RenderContext,
  document: number,
  variants: readonly string[],
): Record<string, string> {
  const { service, organization, baseUrl, grant } = context;
  const key = service.linkKeys.current;
  const expires = Math.floor(service.clock() / 1000) + LINK_SECONDS;
  const terms = { expires, key: key.id, holder: sealedHolder(grant, key) };
  const existing = VARIANTS.filter((variant) => variants.includes(variant));
  return Object.fromEntries(
    existing.map((variant) => {
      const signature = signatureOf({ organization: organization.id, document, variant }, terms, key);
      const query = new URLSearchParams({ ...terms, expires: String(expires), signature });
      return [variant, `${baseUrl}/files/${organization.id}/documents/${document}/${variant}?${query}`];
    }),
  );
}

/**
 * Who a download link was given to, as the audit log names them (`Grant.who`). Throws a Refusal (403) for a link that
 * was altered, has expired, claims to live longer than any link does, or is of a key that has ended.
 */
export async function linkHolder(
  { linkKeys, clock }: Service,
  file: LinkedFile,
  query: Readonly<Record<string, unknown>>,
): Promise<string> {
  const text = (name: string) => (typeof query[name] === 'string' ? (query[name] as string) : '');
  const expires = /^\d{1,12}$/.test(text('expires')) ? Number(text('expires')) : 0;
  const terms = { expires, key: text('key'), holder: text('holder') };
  const key = await linkKeys.find(terms.key);
  if (key === undefined || !isEqual(signatureOf(file, terms, key), text('signature'))) {
    throw refusal('file.signature', 'signature', 'This download link was altered, is incomplete or was withdrawn.');
  }
  const seconds = clock() / 1000;
  if (expires < seconds) throw refusal('file.signature', 'expires', 'This download link has expired.');
  if (expires > seconds + LINK_SECONDS + CLOCK_SECONDS) {
    throw refusal('file.signature', 'expires', 'No download link is valid for so long.');
  }
  return openHolder(terms.holder, key);
}

function isEqual(expected: string, given: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Of each grant, its holder as the links of a key name it: a page has thousands of links for one grant. */
const sealed = new WeakMap<RenderContext['grant'], { readonly key: string; readonly holder: string }>();

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Opaque: a link is passed on, and whoever has it learns nothing of the credential behind it. */
function sealedHolder(grant: RenderContext['grant'], key: LinkKey): string {
  const known = sealed.get(grant);
  if (known?.key === key.id) return known.holder;
  // Of the text itself, so that no two texts share one, and a document that is read twice shows the same link.
  const nonce = createHmac('sha256', key.seal).update(grant.who).digest().subarray(0, NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key.seal, nonce);
  const text = Buffer.concat([cipher.update(grant.who, 'utf8'), cipher.final()]);
  const holder = Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url');
  sealed.set(grant, { key: key.id, holder });
  return holder;
}

function openHolder(holder: string, key: LinkKey): string {
  const bytes = Buffer.from(holder, 'base64url');
  const decipher = createDecipheriv('aes-256-gcm', key.seal, bytes.subarray(0, NONCE_BYTES));
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  const text = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
  return Buffer.concat([text, decipher.final()]).toString('utf8');
}
