import { expect, it } from 'vitest';
import { readSignInFlags } from '../../../src/cli/serving/signinflags.ts';

const CERTIFICATES = { 'tls-client-ca': 'ca.pem', 'tls-client-claims': 'claims.json' };
const TLS = { 'tls-cert': 'cert.pem', 'tls-key': 'key.pem' };

it('certificates of clients are asked for over TLS alone', () => {
  expect(readSignInFlags({ ...CERTIFICATES, ...TLS })).toEqual({ certificates: { claims: 'claims.json' } });
  expect(() => readSignInFlags(CERTIFICATES)).toThrow(
    expect.objectContaining({ exitCode: 2, message: '--tls-client-ca needs --tls-cert and --tls-key.' }),
  );
});
