import { createHmac, hkdfSync } from 'node:crypto';

/**
 * A download link as somebody could make it who has read a key from a database:
 * what `change` names is replaced, and all of it is signed with the secret (base64).
 */
export function forgedLink(
  url: string,
  secret: string,
  change: { readonly expires?: number; readonly key?: string } = {},
): string {
  const made = new URL(url);
  for (const [name, value] of Object.entries(change)) made.searchParams.set(name, String(value));
  const key = hkdfSync('sha256', Buffer.from(secret, 'base64'), '', 'molar link signature', 32);
  const [, , organization, , document, variant] = made.pathname.split('/');
  const terms = ['expires', 'key', 'holder'].map((name) => made.searchParams.get(name));
  const text = [organization, document, variant, ...terms].join('\n');
  made.searchParams.set('signature', createHmac('sha256', Buffer.from(key)).update(text).digest('base64url'));
  return made.href;
}
