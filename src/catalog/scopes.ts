/** Scopes of access tokens (specification, Authentication; D3). */
export const SCOPES = ['model:read', 'model:write', 'practice:read'] as const;

export type Scope = (typeof SCOPES)[number];
