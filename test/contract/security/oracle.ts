import { ORGANIZATION, OTHER_ORGANIZATION } from '../../support/ids.ts';

/** What a route asks for: a scope, or that the caller is known, for a route or a method that is not served. */
export type Need = 'model:read' | 'model:write' | 'practice:read' | 'caller';

/** What the test knows of a credential that it sends. */
export interface Credential {
  readonly name: string;
  /** The Authorization header; none is sent when not given. */
  readonly authorization?: string;
  /** The code of its 401, for a credential that nobody takes. */
  readonly fault?: string;
  readonly organizations: readonly string[];
  readonly scopes: readonly string[];
}

/** Organizations that requests are sent for: the `Organization-ID` header, none when undefined. */
export const ASKED_FOR: readonly (readonly [name: string, header: string | undefined])[] = [
  ['its own', ORGANIZATION],
  ['the other', OTHER_ORGANIZATION],
  ['an unknown one', 'ffffffffffffffffffffffff'],
  ['none', undefined],
];

const KNOWN: readonly string[] = [ORGANIZATION, OTHER_ORGANIZATION];

/**
 * The refusal that D2 wants, as `STATUS CODE SOURCE`, or undefined for those who may pass. Written from the decision,
 * and from nothing of the server's.
 */
export function refusalBy(credential: Credential, organization: string | undefined, need: Need): string | undefined {
  if (credential.fault !== undefined) return `401 ${credential.fault} Authorization`;
  if (organization === undefined) return '400 request.organization_missing Organization-ID';
  if (!KNOWN.includes(organization) || !credential.organizations.includes(organization)) {
    return '403 auth.organization_forbidden Organization-ID';
  }
  return need === 'caller' || credential.scopes.includes(need) ? undefined : '403 auth.scope_missing Authorization';
}
